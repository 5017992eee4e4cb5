import assert from "node:assert/strict";
import { test } from "node:test";
import type { Taint } from "@slipway/kube/core";
import { LABELS, NODE_ANNOTATIONS, TAINTS } from "../../../cluster-api/names.ts";
import { machine, node } from "../testing.ts";
import { isManagedLabel, nodePatch } from "./node-metadata.ts";

const owner = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "MachineSet", name: "s", uid: "u", controller: true };
const wishes = { isInterruptible: false, isOutdated: false };
const own = machine("m", {
  metadata: {
    ownerReferences: [owner],
    labels: { "node.cluster.x-k8s.io/pool": "a", plain: "1" },
    annotations: { "node.cluster.x-k8s.io/note": "x", "other/note": "y" },
  },
});
const ANNOTATED = {
  "node.cluster.x-k8s.io/note": "x",
  [NODE_ANNOTATIONS.clusterName]: "quay",
  [NODE_ANNOTATIONS.clusterNamespace]: "default",
  [NODE_ANNOTATIONS.machine]: "m",
  [NODE_ANNOTATIONS.ownerKind]: "MachineSet",
  [NODE_ANNOTATIONS.ownerName]: "s",
  [NODE_ANNOTATIONS.labelsFromMachine]: "node.cluster.x-k8s.io/pool",
  [NODE_ANNOTATIONS.annotationsFromMachine]: "node.cluster.x-k8s.io/note",
};
const LABELLED = { "node.cluster.x-k8s.io/pool": "a" };
const TAINT: Taint = { key: TAINTS.outdatedRevision, effect: "PreferNoSchedule" };
const taintsOf = (taints: Taint[], isOutdated: boolean) =>
  (
    nodePatch(node("n", { metadata: { labels: LABELLED, annotations: ANNOTATED }, spec: { taints } }), own, {
      ...wishes,
      isOutdated,
    }) as { spec?: { taints: Taint[] } } | undefined
  )?.spec?.taints;

test("labels of these domains are brought to Nodes, others are not", () => {
  for (const key of ["node-role.kubernetes.io/worker", "node-restriction.kubernetes.io/a", "x.node.cluster.x-k8s.io/a"])
    assert.equal(isManagedLabel(key), true, key);
  for (const key of [
    "node.cluster.x-k8s.io",
    "my-node.cluster.x-k8s.io/a",
    "x.node-role.kubernetes.io/a",
    "example.com/a",
  ])
    assert.equal(isManagedLabel(key), false, key);
});

test("a Node gets its Machine's labels and annotations, and says whose it is, under its version", () => {
  assert.deepEqual(nodePatch(node("n"), own, wishes), {
    metadata: { resourceVersion: "1", labels: LABELLED, annotations: ANNOTATED },
  });
  const done = node("n", { metadata: { labels: { ...LABELLED, foreign: "1" }, annotations: ANNOTATED } });
  assert.equal(nodePatch(done, own, wishes), undefined);
});

test("what a Machine no longer has is taken off its Node", () => {
  const before = {
    ...ANNOTATED,
    "node.cluster.x-k8s.io/old": "1",
    [NODE_ANNOTATIONS.labelsFromMachine]: "node.cluster.x-k8s.io/gone,node.cluster.x-k8s.io/pool",
    [NODE_ANNOTATIONS.annotationsFromMachine]: "node.cluster.x-k8s.io/note,node.cluster.x-k8s.io/old",
  };
  const labels = { ...LABELLED, "node.cluster.x-k8s.io/gone": "1" };
  const held = node("n", { metadata: { labels, annotations: before } });
  assert.deepEqual(nodePatch(held, own, wishes), {
    metadata: {
      resourceVersion: "1",
      labels: { "node.cluster.x-k8s.io/gone": null },
      annotations: {
        "node.cluster.x-k8s.io/old": null,
        [NODE_ANNOTATIONS.labelsFromMachine]: "node.cluster.x-k8s.io/pool",
        [NODE_ANNOTATIONS.annotationsFromMachine]: "node.cluster.x-k8s.io/note",
      },
    },
  });
});

test("a Machine that may be taken back marks its Node", () => {
  const patch = nodePatch(node("n", { metadata: { labels: LABELLED, annotations: ANNOTATED } }), own, {
    ...wishes,
    isInterruptible: true,
  });
  assert.deepEqual(patch, { metadata: { resourceVersion: "1", labels: { [LABELS.interruptible]: "" } } });
});

test("the taint of a new Node goes, that of an outdated one comes and goes, and users' stay", () => {
  const users: Taint = { key: "gpu", effect: "NoSchedule" };
  assert.deepEqual(taintsOf([{ key: TAINTS.uninitialized, effect: "NoSchedule" }, users], false), [users]);
  assert.deepEqual(taintsOf([users], true), [users, TAINT]);
  assert.equal(taintsOf([users, TAINT], true), undefined);
  assert.deepEqual(taintsOf([users, TAINT], false), [users]);
  const stronger: Taint = { ...TAINT, effect: "NoSchedule" };
  assert.equal(taintsOf([stronger], false), undefined, "a taint of a user's own effect stays");
  assert.equal(taintsOf([stronger], true), undefined);
});
