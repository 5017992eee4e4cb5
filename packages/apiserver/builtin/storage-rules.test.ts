/** Volumes, claims and what is about them: what is refused, in the words of Kubernetes' validation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefusals, builtin, filledIn, type Refusal } from "./testing.ts";

const required = (...fields: string[]): string[] => fields.map((field) => `${field}: Required value`);

test("a PersistentVolume has a capacity, a way of access and one source", () => {
  const base = { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/a" } } };
  const only = 'supported values: "storage"';
  assertRefusals("PersistentVolume", base, [
    [{ "spec/accessModes": [] }, required("spec.accessModes")],
    [{ "spec/capacity": {} }, [...required("spec.capacity"), `spec.capacity: Unsupported value: null: ${only}`]],
    [{ "spec/capacity": { cpu: "1" } }, [`spec.capacity: Unsupported value: {"cpu":"1"}: ${only}`]],
    [
      { "spec/capacity": { storage: "1", cpu: "1" } },
      [`spec.capacity: Unsupported value: {"cpu":"1","storage":"1"}: ${only}`],
    ],
    [{ "spec/capacity/storage": "0" }, ['spec.capacity[storage]: Invalid value: "0": must be greater than zero']],
    [
      { "spec/capacity/storage": "-1" },
      [
        "spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
        'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
      ],
    ],
    [{ "spec/hostPath": undefined }, ["spec: Required value: must specify a volume type"]],
    [{ "spec/hostPath": undefined, "spec/local": { path: "/a" } }, []],
    [{ "spec/hostPath": undefined, "spec/emptyDir": {} }, ["spec: Required value: must specify a volume type"]],
    [{ "spec/nfs": { server: "s", path: "/a" } }, ["spec.nfs: Forbidden: may not specify more than 1 volume type"]],
    [{ "spec/hostPath": { path: "" } }, required("spec.hostPath.path")],
    [
      { "spec/hostPath": undefined, "spec/nfs": { server: "", path: "" } },
      required("spec.nfs.server", "spec.nfs.path"),
    ],
    [{ "spec/hostPath": undefined, "spec/csi": { driver: "" } }, required("spec.csi.driver")],
  ]);
  const made = filledIn(builtin("PersistentVolume"), base);
  assert.equal((made.status as { phase: string }).phase, "Pending");
  builtin("PersistentVolume").prepareCreate?.(made, Date.UTC(2026, 0, 1));
  assert.deepEqual(made.status, { phase: "Pending", lastPhaseTransitionTime: "2026-01-01T00:00:00Z" });
});

test("a claim asks for storage; once made, only its requests, class of attributes and first volume may change", () => {
  const base = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };
  const storage = "spec.resources[storage]";
  assertRefusals("PersistentVolumeClaim", base, [
    [{ "spec/accessModes": [] }, ["spec.accessModes: Required value: at least 1 access mode is required"]],
    [{ "spec/resources": {} }, required(storage)],
    [{ "spec/resources/requests/storage": "0" }, [`${storage}: Invalid value: "0": must be greater than zero`]],
    [{ "spec/resources/requests/storage": "-1" }, [`${storage}: Invalid value: "-1": must be greater than zero`]],
    [{ "spec/storageClassName": "" }, []],
    [{ "spec/storageClassName": "A" }, ['spec.storageClassName: Invalid value: "A": a lowercase RFC 1123 …']],
  ]);
  const fixed = ["spec: Forbidden: spec is immutable after creation except resources.requests …"];
  const bound = { spec: { ...base.spec, volumeName: "v" } };
  const changes = (isBound: boolean): Refusal[] => [
    [{ "spec/resources/requests/storage": "2Gi" }, []],
    [{ "spec/volumeAttributesClassName": "fast" }, []],
    [{ "spec/volumeName": "w" }, isBound ? fixed : []],
    [{ "spec/accessModes": ["ReadWriteMany"] }, fixed],
    [{ "spec/storageClassName": "fast" }, fixed],
    [{ "spec/volumeMode": "Block" }, fixed],
  ];
  assertRefusals("PersistentVolumeClaim", base, changes(false), base);
  assertRefusals("PersistentVolumeClaim", bound, changes(true), bound);
  const made = filledIn(builtin("PersistentVolumeClaim"), { ...base, status: { phase: "Bound" } });
  assert.equal((made.status as { phase: string }).phase, "Bound");
  builtin("PersistentVolumeClaim").prepareCreate?.(made, 0);
  assert.deepEqual(made.status, { phase: "Pending" });
});

test("a StorageClass has a provisioner, and keeps what its volumes were made by", () => {
  const base = { provisioner: "a.example/b" };
  assertRefusals("StorageClass", base, [[{ provisioner: "" }, required("provisioner")]]);
  assertRefusals(
    "StorageClass",
    base,
    [
      [{ parameters: { a: "b" } }, ["parameters: Forbidden: updates to parameters are forbidden."]],
      [{ provisioner: "a.example/c" }, ['provisioner: Invalid value: "a.example/c": field is immutable']],
      [{ reclaimPolicy: "Retain" }, ['reclaimPolicy: Invalid value: "Retain": field is immutable']],
      [
        { volumeBindingMode: "WaitForFirstConsumer" },
        ['volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable'],
      ],
      [{ allowVolumeExpansion: true }, []],
    ],
    base,
  );
});

test("a VolumeAttachment has an attacher, a Node and one source, and stays as it is", () => {
  const base = { spec: { attacher: "a.example", nodeName: "n", source: { persistentVolumeName: "v" } } };
  const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  assertRefusals("VolumeAttachment", base, [
    [{ "spec/attacher": "" }, required("spec.attacher")],
    [{ "spec/source": {} }, [`spec.source: Required value: ${one}`]],
    [{ "spec/source/inlineVolumeSpec": {} }, [`spec.source: Forbidden: ${one}`]],
    [{ "spec/source": { inlineVolumeSpec: {} } }, []],
    [{ "spec/nodeName": "N" }, ['spec.nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain …']],
  ]);
  assertRefusals(
    "VolumeAttachment",
    base,
    [
      [{ "spec/nodeName": "m" }, ["spec: Invalid value: {…"]],
      [{ status: { attached: true } }, []],
    ],
    base,
  );
});

test("each driver of a CSINode has a name and the Node's id", () => {
  const base = { spec: { drivers: [{ name: "a.example", nodeID: "n" }] } };
  assertRefusals("CSINode", base, [
    [{ "spec/drivers": [{ name: "", nodeID: "" }] }, required("spec.drivers[0].name", "spec.drivers[0].nodeID")],
    [
      {
        "spec/drivers": [
          { name: "a", nodeID: "n" },
          { name: "b", nodeID: "" },
        ],
      },
      required("spec.drivers[1].nodeID"),
    ],
  ]);
});
