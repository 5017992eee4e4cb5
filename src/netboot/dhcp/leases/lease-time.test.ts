import assert from "node:assert/strict";
import { test } from "node:test";
import { steadyClock } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { CONFIG, mac, Rack, type ReadReply, say } from "../testing.ts";
import { inWallTime, leaseTime } from "./lease-time.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const POOL = { ...CONFIG.subnets[0]!, pools: [{ first: "10.0.0.100", last: "10.0.0.100" }] };

/** A server of one address whose clock is set now and then. */
function stage() {
  const wall = new VirtualClock();
  const clock = steadyClock(wall);
  const time = leaseTime(clock);
  const rack = new Rack({ around: (store) => inWallTime(store, time), config: { subnets: [POOL] } });
  return {
    wall,
    clock,
    store: rack.store,
    async boot(i: number): Promise<string | undefined> {
      rack.now = time.now();
      return rack.boot({ mac: mac(i) });
    },
    async renew(i: number, ciaddr: string): Promise<ReadReply | undefined> {
      rack.now = time.now();
      return rack.send(say("request", { mac: mac(i), ciaddr }));
    },
  };
}

for (const [name, step] of [
  ["an hour forward", HOUR],
  ["an hour back", -HOUR],
  ["years forward", 9 * 365 * DAY],
  ["years back", -9 * 365 * DAY],
] as const)
  test(`a clock that is set ${name} ends no lease early, gives no address twice, and keeps none longer`, async () => {
    const { wall, clock, store, boot, renew } = stage();
    assert.equal(await boot(1), "10.0.0.100");
    await wall.run(MINUTE);
    wall.step(step);
    for (let minute = 2; minute < 60; minute++) {
      await wall.run(MINUTE);
      assert.equal(await boot(2), undefined, `after ${minute} minutes of 60`);
    }
    assert.equal((await renew(1, "10.0.0.100"))?.type, "ack");
    const [written] = [...store.leases.values()];
    assert.equal(written!.expiresAt, clock.now() + HOUR, "the next process measures by the clock as it is then");
    await wall.run(HOUR - MINUTE);
    assert.equal(await boot(2), undefined);
    await wall.run(MINUTE);
    assert.equal(await boot(2), "10.0.0.100");
  });
