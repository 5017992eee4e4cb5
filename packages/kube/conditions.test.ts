import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { conditionOf, isTrue, setCondition, v1beta1 } from "./conditions.ts";
import { Node } from "./core.ts";
import type { Condition } from "./object.ts";
import { controllerOf, controllerReference, isControlledBy, withOwner } from "./owners.ts";
import { isNewer } from "./resource-version.ts";

const T0 = Date.UTC(2026, 0, 1);
const ready = (status: Condition["status"], message = "") => ({ type: "Ready", status, reason: "Because", message });

test("lastTransitionTime moves only when the status does", () => {
  const first = setCondition(undefined, ready("False"), T0);
  const reworded = setCondition(first, ready("False", "still"), T0 + 60_000);
  const turned = setCondition(reworded, ready("True"), T0 + 120_000);
  assert.equal(conditionOf(reworded, "Ready")?.lastTransitionTime, "2026-01-01T00:00:00Z");
  assert.equal(conditionOf(reworded, "Ready")?.message, "still");
  assert.equal(conditionOf(turned, "Ready")?.lastTransitionTime, "2026-01-01T00:02:00Z");
  assert.ok(isTrue(turned, "Ready") && !isTrue(first, "Ready"));
});

test("saying the same again returns the very same list", () => {
  const statuses = fc.constantFrom<Condition["status"]>("True", "False", "Unknown");
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom("A", "B"), statuses), { minLength: 1 }), (updates) => {
      let list: readonly Condition[] = [];
      for (const [i, [type, status]] of updates.entries()) {
        const update = { type, status, reason: "R", message: "", observedGeneration: 1 };
        list = setCondition(list, update, T0 + i * 1000);
        assert.equal(setCondition(list, update, T0 + 1e9), list);
        assert.equal(list.filter((c) => c.type === type).length, 1);
      }
    }),
  );
});

test("the v1beta1 shape has a severity only where the status is False", () => {
  const at = { lastTransitionTime: "2026-01-01T00:00:00Z" };
  assert.deepEqual(v1beta1({ ...ready("True"), ...at }), { type: "Ready", status: "True", ...at });
  assert.equal(v1beta1({ ...ready("False"), ...at }, "Error").severity, "Error");
  assert.equal("severity" in v1beta1({ ...ready("Unknown"), ...at }), false);
});

test("an owner is known by its uid, not by its name", () => {
  const owner: Node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "a", uid: "1", resourceVersion: "1", creationTimestamp: "" },
  };
  const ownerReferences = withOwner([], controllerReference(Node, owner));
  const child = { ...owner, metadata: { ...owner.metadata, uid: "2", ownerReferences } };
  assert.ok(isControlledBy(child, owner));
  assert.ok(!isControlledBy(child, { ...owner, metadata: { ...owner.metadata, uid: "3" } }));
  assert.equal(controllerOf(child)?.apiVersion, "v1");
  assert.deepEqual(withOwner(ownerReferences, controllerReference(Node, owner)), ownerReferences);
});

test("versions that are numbers are ordered as numbers, others only compared for equality", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.bigInt({ min: 0n, max: 2n ** 64n }), (a, b) => {
      assert.equal(isNewer(String(a), String(b)), a > b);
    }),
  );
  assert.ok(isNewer("x", "y") && isNewer("y", "x") && !isNewer("x", "x"));
});
