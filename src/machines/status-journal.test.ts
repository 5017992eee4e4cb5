import assert from "node:assert/strict";
import { test } from "node:test";
import { bootField, entriesOf, installField, purchaseField, signalsOf } from "./status-journal.ts";

const AT = "2026-01-01T00:00:00.000Z";
const MS = Date.parse(AT);

test("what a status has of order, boot and signals is read as it was written", () => {
  const purchase = { attempt: 2, at: MS, state: "Refused" as const, placement: 1 };
  const boot = { id: "b1", pass: 2 as const, at: MS, sent: true };
  assert.deepEqual(entriesOf({ purchase: purchaseField(purchase), boot: bootField(boot, true) }), {
    purchase,
    boot,
    signals: {},
  });
  assert.deepEqual(entriesOf(undefined), { purchase: undefined, boot: undefined, signals: {} });
  assert.deepEqual(bootField(boot, false), { id: "b1", pass: 2, at: AT });
});

test("a boot without a second pass is the first one, and one that nobody saw sent is not sent", () => {
  assert.deepEqual(entriesOf({ boot: { id: "b1", pass: 7, at: AT } }).boot, { id: "b1", pass: 1, at: MS, sent: false });
});

test("a time that can't be read counts as long ago, so that nothing waits for it", () => {
  const { purchase, boot } = entriesOf({
    purchase: { attempt: 1, at: "soon", state: "Pending", placement: 0 },
    boot: { id: "b1", pass: 1, at: "soon" },
  });
  assert.deepEqual([purchase?.at, boot?.at], [0, 0]);
});

test("signals count for the boot that they name alone", () => {
  const boot = { id: "b1", pass: 1, at: AT };
  const all = { scriptFetched: AT, configFetched: AT, started: AT, succeeded: AT, failed: AT };
  const read = { scriptFetched: MS, configFetched: MS, started: MS, succeeded: MS, failed: MS };
  assert.deepEqual(signalsOf({ boot, install: { bootID: "b1", ...all, message: "m" } }), { ...read, message: "m" });
  assert.deepEqual(signalsOf({ boot, install: { bootID: "b0", ...all } }), {});
  assert.deepEqual(signalsOf({ boot }), {});
  assert.deepEqual(signalsOf({ boot, install: { bootID: "b1", started: null, failed: "never", message: "" } }), {});
});

test("a boot that is announced again keeps its signals, another one begins without", () => {
  const held = { bootID: "b1", started: AT };
  const boot = { id: "b1", pass: 1 as const, at: MS, sent: false };
  assert.equal(installField(held, boot), held);
  assert.deepEqual(installField(held, { ...boot, id: "b2" }), { bootID: "b2" });
  assert.deepEqual(installField(undefined, boot), { bootID: "b1" });
});
