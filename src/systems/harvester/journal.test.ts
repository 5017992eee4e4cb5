import assert from "node:assert/strict";
import { test } from "node:test";
import type { InstanceStatus } from "../../kinds/harvester/instance.ts";
import { journalOf } from "./journal.ts";

const AT = "2026-01-01T00:00:00.000Z";
const read = (status: object) => journalOf(status as Partial<InstanceStatus>);

test("a boot that was written down is the first or the second pass, sent only when that was written too", () => {
  const at = Date.parse(AT);
  assert.deepEqual(read({ boot: { id: "b", pass: 1, at: AT, sent: true } }).boot, { id: "b", pass: 1, at, sent: true });
  assert.deepEqual(read({ boot: { id: "b", pass: 2, at: AT } }).boot, { id: "b", pass: 2, at, sent: false });
  assert.equal(read({}).boot, undefined);
});

test("signals count for the boot that reported them alone", () => {
  const install = { bootID: "b", scriptFetched: AT, failed: AT, message: "no space" };
  const at = Date.parse(AT);
  const signals = { scriptFetched: at, failed: at, message: "no space" };
  assert.deepEqual(read({ boot: { id: "b", pass: 1, at: AT }, install }).signals, signals);
  assert.deepEqual(read({ boot: { id: "another", pass: 1, at: AT }, install }).signals, {});
});

test("a machine has joined once its Node was Ready, or when it was in service as Slipway took over", () => {
  assert.equal(read({}).joined, false);
  assert.equal(read({ node: { uid: "n" } }).joined, false);
  assert.equal(read({ node: { uid: "n", joined: AT } }).joined, true);
  assert.equal(read({ takenOver: { from: "x", as: "managed", at: AT } }).joined, true);
  assert.equal(read({ takenOver: { from: "x", as: "ready", at: AT } }).joined, false);
});

test("ports were set once the condition said so, whatever became of them since", () => {
  const set = (reason: string, type = "NetworkReady") =>
    read({ conditions: [{ type, reason, status: "False" }] }).networkSet;
  for (const reason of ["AsWanted", "Changed", "TakenOver"]) assert.equal(set(reason), true, reason);
  assert.equal(set("NotSet"), false);
  assert.equal(set("AsWanted", "Ready"), false);
});
