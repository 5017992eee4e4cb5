import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cache, Condition, KubeObject, OwnerReference } from "@slipway/kube";
import type { Cluster } from "../kinds/cluster-api/cluster.ts";
import { ANNOTATIONS, LABELS, secretName } from "./names.ts";
import {
  clusterOf,
  clusterOwner,
  inNamespaceOf,
  isControlPlane,
  machineOf,
  machineOwner,
  owningCluster,
} from "./owners.ts";
import { isPaused, pausedCondition, showsPause } from "./pause.ts";

const owner = (kind: string, of: Partial<OwnerReference> = {}): OwnerReference => ({
  ...{ apiVersion: "cluster.x-k8s.io/v1beta1", kind, name: kind.toLowerCase(), uid: `uid-${kind}` },
  ...of,
});
const object = (metadata: object, of: object = {}) =>
  ({ kind: "SimMachine", metadata: { name: "o", namespace: "default", ...metadata }, ...of }) as unknown as KubeObject;
const cache = (held: Readonly<Record<string, KubeObject>>): Cache =>
  ({
    get: (_: unknown, { namespace, name }: { namespace?: string; name: string }) => held[`${namespace}/${name}`],
  }) as unknown as Cache;

test("owners are found by group and kind, in any version of their group", () => {
  const owned = object({
    ownerReferences: [owner("Machine"), owner("Cluster", { apiVersion: "cluster.x-k8s.io/v9" })],
  });
  assert.deepEqual(machineOwner(owned), { name: "machine", namespace: "default" });
  assert.deepEqual(clusterOwner(owned), { name: "cluster", namespace: "default" });
  assert.equal(
    machineOwner(object({ ownerReferences: [owner("Machine", { apiVersion: "example.com/v1" })] })),
    undefined,
  );
  assert.equal(machineOwner(object({})), undefined);
  assert.deepEqual(inNamespaceOf(object({ namespace: undefined }), "x"), { name: "x" });
});

test("a Machine whose name was taken again is not the owner", () => {
  const held = (uid: string) => cache({ "default/machine": object({ uid }) });
  const owned = object({ ownerReferences: [owner("Machine")] });
  assert.equal(machineOf(held("uid-Machine"), owned)?.metadata.uid, "uid-Machine");
  assert.equal(machineOf(held("other"), owned), undefined);
  assert.equal(machineOf(cache({}), owned), undefined);
  assert.equal(machineOf(held("uid-Machine"), object({})), undefined);
});

test("the Cluster of an object is the one that it names: by its spec, its owner or its label", () => {
  const quay = object({ name: "quay" });
  const held = cache({ "default/quay": quay, "default/cluster": object({ name: "cluster" }) });
  const name = (of: KubeObject) => owningCluster(held, of)?.metadata.name;
  assert.equal(clusterOf(held, object({}, { spec: { clusterName: "quay" } }) as never), quay);
  assert.equal(name(object({ labels: { [LABELS.clusterName]: "quay" } })), "quay");
  const both = object({ labels: { [LABELS.clusterName]: "quay" }, ownerReferences: [owner("Cluster")] });
  assert.equal(name(both), "cluster");
  assert.equal(name(object({})), undefined);
});

test("Machines of a control plane are labelled, with any value", () => {
  assert.equal(isControlPlane(object({ labels: { [LABELS.controlPlane]: "" } })), true);
  assert.equal(isControlPlane(object({ labels: {} })), false);
  assert.equal(isControlPlane(object({})), false);
  assert.equal(secretName("quay", "kubeconfig"), "quay-kubeconfig");
});

test("an object is paused by its Cluster or its annotation, and says by which", () => {
  const cluster = (paused?: boolean) => ({ spec: { paused } }) as unknown as Cluster;
  const plain = object({ generation: 3 });
  const marked = object({ annotations: { [ANNOTATIONS.paused]: "" } });
  assert.deepEqual(
    [
      isPaused(plain, cluster()),
      isPaused(plain, undefined),
      isPaused(plain, cluster(true)),
      isPaused(marked, undefined),
    ],
    [false, false, true, true],
  );
  assert.deepEqual(pausedCondition(plain, cluster(false)), {
    ...{ type: "Paused", observedGeneration: 3, status: "False", reason: "NotPaused", message: "" },
  });
  assert.deepEqual(pausedCondition(marked, cluster(true)), {
    ...{ type: "Paused", status: "True", reason: "Paused" },
    message: "Cluster spec.paused is set to true, SimMachine has the cluster.x-k8s.io/paused annotation",
  });
  assert.equal(pausedCondition(plain, cluster(true)).message, "Cluster spec.paused is set to true");
});

test("a pause is written again only when it, or its reason, has changed", () => {
  const update = pausedCondition(object({}), { spec: { paused: true } } as unknown as Cluster);
  const shown: Condition = { ...update, lastTransitionTime: "2026-01-01T00:00:00Z" };
  assert.equal(showsPause([shown], { ...update, observedGeneration: 9 }), true);
  assert.equal(showsPause([{ ...shown, message: "other" }], update), false);
  assert.equal(showsPause([{ ...shown, status: "False" }], update), false);
  assert.equal(showsPause([{ ...shown, type: "Ready" }], update), false);
  assert.equal(showsPause(undefined, update), false);
});
