import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body } from "../model/served.ts";
import { validatePodUpdate } from "./pod-update.ts";

const pod = (spec: object, status: object = {}): Body =>
  ({
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, status },
    spec: { containers: [{ name: "c", image: "a" }], ...spec },
  }) as unknown as Body;
const refusals = (now: Body, was: Body) => validatePodUpdate(now, was).map(({ field }) => field);
const scheduled = { conditions: [{ type: "PodScheduled", status: "True" }] };

test("a Pod's Node is chosen once, together with the condition that says so", () => {
  assert.deepEqual(refusals(pod({ nodeName: "n" }, scheduled), pod({})), []);
  assert.deepEqual(refusals(pod({ nodeName: "n" }), pod({})), ["spec"]);
  assert.deepEqual(refusals(pod({ nodeName: "m" }, scheduled), pod({ nodeName: "n" })), ["spec"]);
  assert.deepEqual(refusals(pod({ nodeName: "n" }, scheduled), pod({}, scheduled)), ["spec"]);
  const other = {
    conditions: [
      { type: "PodScheduled", status: "False" },
      { type: "Ready", status: "True" },
    ],
  };
  assert.deepEqual(refusals(pod({ nodeName: "n" }, other), pod({})), ["spec"]);
});

test("what may change of a Pod: images, a sooner deadline, more tolerations, and a grace of 1 in place of a negative one", () => {
  const one = (spec: object) => pod({ containers: [{ name: "c", image: "b" }], ...spec });
  assert.deepEqual(refusals(one({}), pod({})), []);
  assert.deepEqual(refusals(pod({ initContainers: [{ name: "i" }] }), pod({})), ["spec.initContainers"]);
  assert.deepEqual(refusals(pod({ containers: [{ name: "d", image: "a" }] }), pod({})), ["spec"]);
  const deadline = (now: number | undefined, was: number | undefined) =>
    refusals(pod({ activeDeadlineSeconds: now }), pod({ activeDeadlineSeconds: was }));
  assert.deepEqual([deadline(5, 5), deadline(4, 5), deadline(5, undefined)], [[], [], []]);
  assert.deepEqual(deadline(6, 5), ["spec.activeDeadlineSeconds"]);
  assert.deepEqual(deadline(undefined, 5), ["spec.activeDeadlineSeconds"]);
  const [a, b] = [{ key: "a", tolerationSeconds: 1 }, { key: "b" }];
  const tolerated = (now: object[], was: object[]) => refusals(pod({ tolerations: now }), pod({ tolerations: was }));
  assert.deepEqual(tolerated([b, { ...a, tolerationSeconds: 9 }], [a]), []);
  assert.deepEqual(tolerated([b], [a]), ["spec.tolerations"]);
  const grace = (now: number, was: number) =>
    refusals(pod({ terminationGracePeriodSeconds: now }), pod({ terminationGracePeriodSeconds: was }));
  assert.deepEqual([grace(1, -5), grace(2, -5), grace(1, 5)], [[], ["spec"], ["spec"]]);
});

test("a Pod behind scheduling gates may be steered elsewhere, another may not", () => {
  const steered = { nodeSelector: { zone: "b" } };
  const gates = { schedulingGates: [{ name: "g" }] };
  assert.deepEqual(refusals(pod({ ...gates, ...steered }), pod(gates)), []);
  assert.deepEqual(refusals(pod(steered), pod(gates)), []);
  assert.deepEqual(refusals(pod(steered), pod({})), ["spec"]);
  assert.deepEqual(refusals(pod(gates), pod({})), ["spec"]);
});
