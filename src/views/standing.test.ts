import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { doingOf, failureOf, isReady, stateOf, waitOf } from "./standing.ts";

const object = (status: object, metadata: object = {}): KubeObject =>
  ({
    ...{ apiVersion: "example.dev/v1", kind: "Machine", status },
    metadata: { name: "a", generation: 2, ...metadata },
  }) as unknown as KubeObject;

test("a kind without Ready is summed up by Available, at the generation that the condition has seen", () => {
  const available = { type: "Available", status: "True", reason: "Up", message: "", observedGeneration: 2 };
  assert.equal(stateOf(object({ conditions: [available] })), "ready");
  assert.equal(isReady(object({ conditions: [available] })), true);
  assert.equal(isReady(object({ conditions: [{ ...available, observedGeneration: 1 }] })), false);
  const ready = { type: "Ready", status: "False", reason: "", message: "" };
  assert.equal(stateOf(object({ conditions: [available, ready] })), "not ready");
});

test("without conditions the field ready of Cluster API's contract counts, and only the value true", () => {
  assert.equal(isReady(object({ ready: true })), true);
  assert.equal(isReady(object({ ready: "true" })), false);
  assert.equal(doingOf(object({ ready: true })), "ready");
});

test("an object that is deleted keeps its kind's word", () => {
  const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  assert.equal(stateOf(object({ phase: "Deleting" }, deleted)), "Deleting");
});

test("a condition without a message shows its reason; a message of several lines is one line", () => {
  const ready = (message: string) => ({ conditions: [{ type: "Ready", status: "False", reason: "NoHosts", message }] });
  assert.equal(doingOf(object(ready(""))), "NoHosts");
  assert.equal(doingOf(object(ready("* a\n* b"))), "* a * b");
});

test("a failure with half of its fields has the other half by default; Stalled that is not True stalls nothing", () => {
  assert.deepEqual(failureOf(object({ errorMessage: "m" })), { reason: "error", message: "m" });
  assert.deepEqual(failureOf(object({ failureMessage: "m" })), { reason: "failed", message: "m" });
  assert.deepEqual(failureOf(object({ failureReason: "R" })), { reason: "R", message: "" });
  const stalled = { type: "Stalled", status: "False", message: "no money" };
  assert.equal(waitOf(object({ conditions: [stalled] })), undefined);
});
