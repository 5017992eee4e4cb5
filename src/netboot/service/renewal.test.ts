import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog as log } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { NetbootIdentity } from "./identity.ts";
import { renewing } from "./renewal.ts";

const HOUR_MS = 3_600_000;

test("a certificate is looked after every day, a failed look is repeated, and nothing is left when it ends", async () => {
  const clock = new VirtualClock();
  const shown: string[] = [];
  let looks = 0;
  const look = async (): Promise<NetbootIdentity> => {
    looks++;
    if (looks === 2) throw new Error("the disk is full");
    return { pin: `look ${looks}` } as NetbootIdentity;
  };
  const renewal = renewing(look, ({ pin }) => shown.push(pin), { clock, log });
  await clock.run(23 * HOUR_MS);
  assert.equal(looks, 0);
  await clock.run(3 * 24 * HOUR_MS);
  assert.deepEqual(shown, ["look 1", "look 3"]);
  renewal.close();
  assert.equal(clock.pending, 0);
});
