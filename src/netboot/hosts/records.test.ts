/** When records reach the store: at once, or with others within a second, and each state once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { HostRecord } from "./host.ts";
import { HostRecords } from "./records.ts";

const BOUNDS = { hosts: 100, bytes: 1e9, hostsPerSource: 100, bytesPerSource: 1e9 };
const record = (name: string) => ({ host: { name, macs: [] } }) as unknown as HostRecord;

/** Records on a store that writes down what it is given: names, with a minus those that are gone. */
function desk() {
  const clock = new VirtualClock();
  const at = { isBroken: false };
  const writes: string[] = [];
  const store = {
    ...{ load: () => [], inventoryOf: () => undefined, close: () => {} },
    write(changed: readonly HostRecord[], gone: readonly string[]) {
      if (at.isBroken) throw new Fault("Unavailable", "the store", "full");
      writes.push([...changed.map(({ host }) => host.name), ...gone.map((name) => `-${name}`)].join(" "));
    },
  };
  const records = new HostRecords({ store, clock, bounds: BOUNDS, isKept: () => false, restored: (held) => held });
  return { clock, at, writes, records };
}

test("what may be written soon is written within a second, together", async () => {
  const { clock, writes, records } = desk();
  records.put(record("a"), "soon");
  records.put(record("b"), "soon");
  records.remove(record("b"), "soon");
  assert.deepEqual(writes, []);
  await clock.run(1_000);
  assert.deepEqual(writes, ["a -b"]);
});

test("what was to be written soon is not written again once it was written, or has gone, at once", async () => {
  const { clock, writes, records } = desk();
  for (const name of ["a", "b", "c"]) records.put(record(name), "soon");
  records.put(record("a"), "now");
  records.remove(record("b"), "now");
  await clock.run(5_000);
  assert.deepEqual(writes, ["a", "-b", "c"]);
});

test("what the store refuses stays to be written; who needs it on the disk gets the fault", async () => {
  const { clock, at, writes, records } = desk();
  at.isBroken = true;
  records.put(record("a"), "soon");
  await clock.run(3_000);
  assert.throws(() => records.put(record("b"), "now"), /full/);
  assert.equal(records.find("b"), undefined);
  at.isBroken = false;
  await clock.run(1_000);
  assert.deepEqual(writes, ["a"]);
});
