import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Datastore } from "./datastore.ts";
import { inTurns } from "./in-turns.ts";

const place = { schema: "a", user: "a" };
const { signal } = new AbortController();

/** A database whose calls end when the test says so. */
function scene() {
  const clock = new VirtualClock();
  const ends: (() => void)[] = [];
  const call = () => new Promise<void>((resolve) => ends.push(resolve));
  const copied: unknown[] = [];
  const inner = {
    driver: "etcd",
    ensure: call,
    check: async () => {},
    copy: async (_: unknown, to: unknown) => void copied.push(to),
  } as unknown as Datastore;
  return { clock, ends, inner, copied, turned: inTurns(inner, "DataStore/x", clock) };
}

test("two calls are under way at once, the next has its turn when one ends, and a call that waits for a second is reported", async () => {
  const { clock, ends, turned } = scene();
  const all = [0, 1, 2, 3].map(() => turned.ensure(place, signal));
  const last = assert.rejects(all[3]!, (error) => isFault(error, "Unavailable") && error.retryAfterMs === 3_000);
  await clock.settle();
  assert.equal(ends.length, 2);
  ends[0]!();
  await clock.settle();
  assert.equal(ends.length, 3);
  await clock.run(1_000);
  await last;
  for (const end of ends) end();
  await Promise.all(all.slice(0, 3));
  // All turns are free again.
  const more = [0, 1].map(() => turned.ensure(place, signal));
  await clock.settle();
  assert.equal(ends.length, 5);
  for (const end of ends) end();
  await Promise.all(more);
  assert.equal(clock.pending, 0);
});

test("a call that fails gives its turn back", async () => {
  const { clock, inner } = scene();
  const broken = { ...inner, ensure: async () => assert.fail("no") } as unknown as Datastore;
  const turned = inTurns(broken, "DataStore/x", clock);
  for (let at = 0; at < 5; at++) await assert.rejects(turned.ensure(place, signal), /no/);
});

test("a check takes no turn, and a copy goes to what the driver itself has opened", async () => {
  const { clock, ends, inner, copied, turned } = scene();
  const held = [0, 1].map(() => turned.ensure(place, signal));
  await clock.settle();
  await turned.check(signal);
  await turned.copy(place, inTurns(inner, "DataStore/y", clock), () => {}, signal);
  assert.deepEqual(copied, [inner]);
  for (const end of ends) end();
  await Promise.all(held);
});
