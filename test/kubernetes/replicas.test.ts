/** Two operator processes on a real cluster, in real time (H26): one acts, and whatever happens to it the other takes over. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { LEASE_TIMES } from "@slipway/kube";
import { whyNotHere } from "./cluster.ts";
import { type Live, startLive, until } from "./live.ts";
import type { Replica } from "./replica.ts";

const skip = (await whyNotHere()) ?? false;
const TAKE_OVER_MS = LEASE_TIMES.leaseMs + 5_000;

/** Until `next` leads; how long it took, shown in the report. */
async function takenOver(t: TestContext, live: Live, next: Replica, what: string): Promise<number> {
  const began = clock.now();
  await until(`${what}: the other leads`, async () => (await live.leader()) === next.identity, 2 * TAKE_OVER_MS);
  const took = clock.now() - began;
  t.diagnostic(`${what}: taken over after ${(took / 1000).toFixed(1)} s`);
  return took;
}

test("H26 a replica that is killed, paused or asked to end is followed by the other in time, and no machine is bought twice", {
  skip,
}, async (t) => {
  const live = await startLive();
  t.after(() => live.close());
  const bought = (): number => live.metal.equinix.sim.boughtEver().length;
  const first = await live.operator();
  await until("the first leads", async () => (await live.leader()) === first.identity, 60_000);
  const second = await live.operator();
  await live.scale(3);
  await live.whole(3);
  assert.equal(await live.leader(), first.identity);

  await live.scale(6);
  await until("it buys", () => bought() > 3, 60_000);
  await first.end("SIGKILL");
  assert.ok((await takenOver(t, live, second, "killed")) <= TAKE_OVER_MS);
  await live.whole(6);
  assert.equal(bought(), 6);

  const third = await live.operator();
  await live.scale(9);
  await until("it buys", () => bought() > 6, 60_000);
  second.pause();
  assert.ok((await takenOver(t, live, third, "paused")) <= TAKE_OVER_MS);
  await live.whole(9);
  second.resume();
  await live.scale(11);
  await live.whole(11);
  assert.equal(await live.leader(), third.identity, "who woke up does not take back what another holds");
  assert.equal(bought(), 11);

  await live.scale(12);
  await third.end("SIGTERM");
  assert.ok((await takenOver(t, live, second, "asked to end")) <= 5_000);
  await live.whole(12);
  assert.equal(bought(), 12);
});
