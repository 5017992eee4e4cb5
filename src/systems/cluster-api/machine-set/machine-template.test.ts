import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { ANNOTATIONS, FINALIZERS, LABELS } from "../../../cluster-api/names.ts";
import { machine, machineSet, machineSpec } from "../testing.ts";
import {
  annotationsOf,
  cloneOf,
  kindOfTemplate,
  labelsOf,
  machineOf,
  machinePatch,
  metadataPatch,
  nameAsLabel,
  propagatedBy,
  replaced,
} from "./machine-template.ts";

const set = (of: { template?: object; labels?: object; annotations?: object } = {}) =>
  machineSet("s", {
    metadata: { labels: { [LABELS.deploymentName]: "berth" } },
    spec: {
      clusterName: "quay",
      replicas: 3,
      selector: {},
      template: {
        metadata: { labels: { tier: "web", ...of.labels }, annotations: { note: "x", ...of.annotations } },
        spec: machineSpec(of.template),
      },
    },
  });
const LABELLED = {
  tier: "web",
  [LABELS.clusterName]: "quay",
  [LABELS.setName]: "s",
  [LABELS.deploymentName]: "berth",
};

test("a Machine has the template's labels and those by which its cluster, set and deployment are found", () => {
  assert.deepEqual(labelsOf(set()), LABELLED);
  assert.equal(LABELS.deploymentName in labelsOf(machineSet("alone")), false);
  assert.deepEqual(annotationsOf(machineSet("alone")), {});
});

test("a name of up to 63 characters is its own label, a longer one is cut and stays distinct", () => {
  const [fits, long] = ["a".repeat(63), "a".repeat(64)];
  assert.equal(nameAsLabel(fits), fits);
  const [one, other] = [nameAsLabel(long), nameAsLabel(`${long}b`)];
  assert.equal(one.length, 63);
  assert.match(one, /^a+-[0-9a-z]+$/);
  assert.notEqual(one, other);
  assert.equal(nameAsLabel(long), one);
});

test("a provider's object is made of its template, belongs to the set and says of what it was made", () => {
  const template = {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "SimMachineTemplate",
    metadata: { name: "t" },
    spec: { template: { metadata: { labels: { own: "1", tier: "db" }, annotations: { a: "b" } }, spec: { cpus: 2 } } },
  } as unknown as KubeObject;
  const { metadata, spec } = cloneOf(set(), template, "s-x") as { metadata: KubeObject["metadata"]; spec: unknown };
  assert.deepEqual(spec, { cpus: 2 });
  assert.deepEqual([metadata.name, metadata.namespace], ["s-x", "default"]);
  assert.deepEqual(metadata.labels, { own: "1", ...LABELLED });
  assert.deepEqual(metadata.annotations, {
    ...{ a: "b", note: "x" },
    [ANNOTATIONS.clonedFromName]: "t",
    [ANNOTATIONS.clonedFromGroupKind]: "SimMachineTemplate.infrastructure.cluster.x-k8s.io",
  });
  assert.deepEqual(
    metadata.ownerReferences?.map(({ uid, controller }) => [uid, controller]),
    [["uid-s", undefined]],
  );
  const bare = { ...template, spec: {} } as unknown as KubeObject;
  assert.deepEqual(cloneOf(set(), bare, "s-x").spec, {});
  assert.deepEqual(kindOfTemplate({ apiGroup: "g", kind: "SimMachineTemplate", name: "t" }), {
    apiGroup: "g",
    kind: "SimMachine",
  });
});

test("a Machine is controlled by its set and names the objects that were made for it", () => {
  const infrastructureRef = { apiGroup: "i", kind: "SimMachine", name: "s-x" };
  const configRef = { apiGroup: "b", kind: "SimConfig", name: "s-x" };
  const made = machineOf(set({ template: { version: "v1.36.1" } }), "s-x", { infrastructureRef, configRef });
  assert.deepEqual(made.spec, {
    ...{ clusterName: "quay", version: "v1.36.1" },
    ...{ bootstrap: { configRef }, infrastructureRef },
  });
  assert.equal(made.metadata.ownerReferences[0]?.controller, true);
  assert.deepEqual(made.metadata.finalizers, [FINALIZERS.machine], "which costs no write of its own then");
  assert.deepEqual([made.metadata.labels, made.metadata.annotations], [LABELLED, { note: "x" }]);
  const given = machineOf(set(), "s-x", { infrastructureRef, configRef: undefined });
  assert.deepEqual(given.spec.bootstrap, { dataSecretName: "data" });
});

test("labels and annotations that the template has, or no longer has, reach objects; foreign ones stay", () => {
  const held = machine("m", {
    metadata: { labels: { ...LABELLED, tier: "db", old: "1", foreign: "1" }, annotations: { note: "x" } },
  });
  const before = { labels: ["old", "never", "tier"], annotations: ["note"] };
  assert.deepEqual(metadataPatch(held, set(), before), { labels: { tier: "web", old: null } });
  assert.deepEqual(metadataPatch(held, set({ annotations: { more: "y" } }), undefined), {
    labels: { tier: "web" },
    annotations: { more: "y" },
  });
  const same = machine("m", { metadata: { labels: LABELLED, annotations: { note: "x" } } });
  assert.equal(metadataPatch(same, set(), before), undefined);
  assert.deepEqual(propagatedBy(set()), { labels: Object.keys(LABELLED).toSorted(), annotations: ["note"] });
});

test("fields that reach Machines in place are patched, others are left", () => {
  const of = (spec: object) => machine("m", { metadata: { labels: LABELLED, annotations: { note: "x" } }, spec });
  const wanted = set({ template: { minReadySeconds: 5, deletion: { order: "Oldest" }, version: "v2" } });
  assert.deepEqual(machinePatch(of({ taints: [], deletion: { old: 1, order: "Oldest" } }), wanted, undefined), {
    spec: { minReadySeconds: 5, deletion: { order: "Oldest", old: null }, taints: null },
  });
  assert.equal(machinePatch(of({ minReadySeconds: 5, deletion: { order: "Oldest" } }), wanted, undefined), undefined);
  const bare = machine("m", { spec: { minReadySeconds: 5, deletion: { order: "Oldest" } } });
  assert.deepEqual(machinePatch(bare, wanted, undefined), {
    metadata: { labels: LABELLED, annotations: { note: "x" } },
  });
});

test("a value takes another's place in a merge patch: what goes is null, lists are replaced", () => {
  assert.deepEqual(replaced({ a: 1, b: 2 }, { b: 3 }), { a: null, b: 3 });
  assert.deepEqual(replaced([1], [2]), [2]);
  assert.deepEqual(replaced({ a: 1 }, [2]), [2]);
  assert.deepEqual([replaced(1, undefined), replaced(null, { a: 1 }), replaced(1, 2)], [null, { a: 1 }, 2]);
});
