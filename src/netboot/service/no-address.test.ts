import assert from "node:assert/strict";
import { test } from "node:test";
import { type Log, quietLog } from "@slipway/base";
import { clientOf } from "../dhcp/client.ts";
import { say } from "../dhcp/testing.ts";
import { warningOfNoAddress } from "./no-address.ts";

const MINUTE = 60_000;

test("a pool that is used up is warned of once an hour, each network's for itself", () => {
  const warned: object[] = [];
  const log: Log = { ...quietLog, warn: (fields) => void warned.push(fields) };
  let now = 0;
  const notify = warningOfNoAddress({ clock: { monotonic: () => now }, log });
  const client = clientOf(say("discover"))!;
  const full = (subnet: string): void => notify({ is: "noAddress", client, subnet, because: "the pool is used up" });

  for (now of [0, 1, 59 * MINUTE, 60 * MINUTE, 61 * MINUTE]) full("10.0.0.0/24");
  full("10.1.0.0/24");
  notify({ is: "seen", client });
  assert.deepEqual(
    warned.map((fields) => (fields as { subnet: string }).subnet),
    ["10.0.0.0/24", "10.0.0.0/24", "10.1.0.0/24"],
  );
  assert.deepEqual(warned[0], { subnet: "10.0.0.0/24", client: "52:54:00:00:00:01", reason: "the pool is used up" });
});

test("the reasons that are remembered are bounded, and so is the log", () => {
  let warned = 0;
  const log: Log = { ...quietLog, warn: () => void warned++ };
  const notify = warningOfNoAddress({ clock: { monotonic: () => 0 }, log });
  const client = clientOf(say("discover"))!;
  for (let i = 0; i < 10_000; i++) notify({ is: "noAddress", client, subnet: "10.0.0.0/24", because: `reason ${i}` });
  assert.equal(warned, 256);
});
