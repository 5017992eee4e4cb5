import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Fault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { load } from "js-yaml";
import {
  byVersion,
  contractKindOf,
  controlPlaneOf,
  definitionName,
  infraClusterOf,
  infraMachineOf,
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
  const object = (of: object) => of as KubeObject;
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
