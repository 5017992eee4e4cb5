import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Fault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { load } from "js-yaml";
import {
  bootstrapOf,
  byVersion,
  conditionsOf,
  contractKindOf,
  controlPlaneOf,
  definitionName,
  endpointOf,
  infraClusterOf,
  infraMachineOf,
  pluralOf,
} from "./contract.ts";

const CRDS = `${process.env.SLIPWAY_REFERENCE ?? "../shared/reference"}/data/crds`;
const skip = existsSync(CRDS) ? false : `${CRDS} is absent`;

test("the definition of every kind in the reference is found by its kind's plural", { skip }, () => {
  const files = readdirSync(CRDS, { recursive: true, encoding: "utf8" }).filter((file) =>
    /cluster-api.*\.ya?ml$/.test(file),
  );
  assert.ok(files.length >= 12, `${files.length} definitions were found`);
  for (const file of files) {
    const crd = load(readFileSync(`${CRDS}/${file}`, "utf8")) as {
      metadata: { name: string };
      spec: { group: string; names: { kind: string } };
    };
    if (crd.spec.names.kind === "Metadata") continue;
    assert.equal(definitionName({ apiGroup: crd.spec.group, kind: crd.spec.names.kind }), crd.metadata.name);
  }
});

const object = (of: object) => of as KubeObject;

test("the first contract with a label decides, with the highest of its versions", () => {
  const kind = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "PacketMachine" };
  const both = { "cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1alpha3_v1beta1_v1beta2" };
  const { contract, resource } = contractKindOf(kind, both);
  assert.deepEqual([contract, resource.version, resource.plural], ["v1beta2", "v1beta2", "packetmachines"]);
  const old = contractKindOf(kind, { "cluster.x-k8s.io/v1beta1": "v1alpha1" });
  assert.deepEqual([old.contract, old.resource.version], ["v1beta1", "v1alpha1"]);
  assert.throws(
    () => contractKindOf(kind, { other: "label" }),
    (fault: Fault) => fault.code === "Invalid" && /packetmachines\.infrastructure.*no label/.test(fault.message),
  );
});

test("versions are ordered as Kubernetes orders them", () => {
  const versions = ["foo1", "v1alpha1", "v2", "v1beta2", "v10", "v1beta10", "v1", "v11alpha2"];
  assert.deepEqual(versions.toSorted(byVersion), [
    "v10",
    "v2",
    "v1",
    "v1beta10",
    "v1beta2",
    "v11alpha2",
    "v1alpha1",
    "foo1",
  ]);
});

test("each contract's fields are read where that contract has them", () => {
  const old = object({
    spec: { controlPlaneEndpoint: { host: "10.0.0.1", port: 6443 } },
    status: { ready: true, failureDomains: { b: { controlPlane: true }, a: {} }, failureReason: "Gone" },
  });
  assert.deepEqual(infraClusterOf(old, "v1beta1"), {
    provisioned: true,
    endpoint: { host: "10.0.0.1", port: 6443 },
    failureDomains: [{ name: "a" }, { name: "b", controlPlane: true }],
    failure: { reason: "Gone", message: undefined },
  });
  assert.equal(infraClusterOf(old, "v1beta2").provisioned, false);
  const machine = object({ spec: { providerID: "" }, status: { initialization: { provisioned: true } } });
  assert.deepEqual(
    [infraMachineOf(machine, "v1beta2").provisioned, infraMachineOf(machine, "v1beta2").providerID],
    [true, undefined],
  );
  const plane = object({
    spec: { version: "v1.36.1" },
    status: {
      version: "v1.35.0",
      versions: [{ version: "v1.35.0" }, { version: "v1.36.1" }],
      externalManagedControlPlane: true,
    },
  });
  assert.deepEqual(controlPlaneOf(plane, "v1beta2").versions, ["v1.35.0", "v1.36.1"]);
  assert.equal(controlPlaneOf(plane, "v1beta2").isExternallyManaged, true);
});

test("plurals are English, as the names of definitions have them", () => {
  const words = ["Bus", "Box", "Quiz", "Batch", "Mesh", "Policy", "Gateway", "Machine"].map(pluralOf);
  assert.deepEqual(words, ["buses", "boxes", "quizes", "batches", "meshes", "policies", "gateways", "machines"]);
});

test("what a Machine's infrastructure, bootstrap and control plane say is read by their contract", () => {
  const machine = object({
    spec: { providerID: "sim://1", failureDomain: "a" },
    status: { ready: true, interruptible: true, addresses: [], failureMessage: "burnt" },
  });
  const { provisioned, providerID, failureDomain, interruptible, failure } = infraMachineOf(machine, "v1beta1");
  assert.deepEqual([provisioned, providerID, failureDomain, interruptible], [true, "sim://1", "a", true]);
  assert.deepEqual([failure.message, infraMachineOf(machine, "v1beta2").failure.message], ["burnt", undefined]);
  const moved = object({ spec: { failureDomain: "a" }, status: { failureDomain: "b", interruptible: "yes" } });
  assert.deepEqual(
    [infraMachineOf(moved, "v1beta2").failureDomain, infraMachineOf(moved, "v1beta2").interruptible],
    ["b", false],
  );
  const config = object({
    status: { initialization: { dataSecretCreated: true }, dataSecretName: "data", ready: false },
  });
  assert.deepEqual([bootstrapOf(config, "v1beta2").created, bootstrapOf(config, "v1beta1").created], [true, false]);
  assert.equal(bootstrapOf(config, "v1beta2").dataSecretName, "data");
});

test("a control plane's counters and versions are read where each contract has them", () => {
  const plane = object({
    spec: { replicas: 3, version: 1 },
    status: {
      ...{ initialized: true, ready: true, replicas: 0, updatedReplicas: 1, upToDateReplicas: 2 },
      ...{ versions: [], version: "v1.36.0" },
    },
  });
  const [old, now] = [controlPlaneOf(plane, "v1beta1"), controlPlaneOf(plane, "v1beta2")];
  assert.deepEqual([old.initialized, now.initialized, old.ready], [true, false, true]);
  assert.deepEqual([old.upToDateReplicas, now.upToDateReplicas], [1, 2]);
  assert.deepEqual([now.desiredReplicas, now.replicas, now.readyReplicas], [3, 0, undefined]);
  assert.deepEqual([now.version, now.versions], [undefined, ["v1.36.0"]]);
  assert.deepEqual(controlPlaneOf(object({}), "v1beta2").versions, []);
});

test("an endpoint has a host and a port; failure domains may be a list, a map or none", () => {
  assert.equal(endpointOf({ host: "", port: 6443 }), undefined);
  assert.equal(endpointOf({ host: "a", port: 0 }), undefined);
  assert.equal(endpointOf(undefined), undefined);
  const domains = (failureDomains: unknown) =>
    infraClusterOf(object({ status: { failureDomains } }), "v1beta2").failureDomains;
  assert.deepEqual(domains([{ name: "a" }]), [{ name: "a" }]);
  assert.deepEqual([domains(null), domains("a"), domains(undefined)], [undefined, undefined, undefined]);
});

test("conditions of v1beta2 that a v1beta1 object keeps aside come first", () => {
  const [own, aside] = [[{ type: "Ready" }], [{ type: "Available" }]];
  assert.deepEqual(conditionsOf(object({ status: { conditions: own } })), own);
  assert.deepEqual(conditionsOf(object({ status: { conditions: own, v1beta2: { conditions: aside } } })), aside);
});

test("an empty label names no version", () => {
  const kind = { apiGroup: "x", kind: "Box" };
  const labels = { "cluster.x-k8s.io/v1beta2": "", "cluster.x-k8s.io/v1beta1": "v1" };
  assert.equal(contractKindOf(kind, labels).contract, "v1beta1");
  assert.throws(() => contractKindOf(kind, undefined), /boxes\.x/);
});
