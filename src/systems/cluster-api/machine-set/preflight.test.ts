import assert from "node:assert/strict";
import { test } from "node:test";
import { ANNOTATIONS } from "../../../cluster-api/names.ts";
import { machineSet } from "../testing.ts";
import { preflight } from "./preflight.ts";

const KUBEADM = {
  bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfigTemplate", name: "c" } },
};
const checks = (
  own: string | undefined,
  plane: { version?: string; versions?: string[] } | undefined,
  of: { skip?: string; templateSkip?: string; template?: object } = {},
) =>
  preflight(
    machineSet("s", {
      template: { version: own, ...of.template },
      metadata: { annotations: of.skip === undefined ? {} : { [ANNOTATIONS.skipPreflightChecks]: of.skip } },
    }),
    plane && { version: plane.version, versions: plane.versions ?? [plane.version!] },
    {
      kind: "Plane",
      templateAnnotations: of.templateSkip === undefined ? {} : { [ANNOTATIONS.skipPreflightChecks]: of.templateSkip },
    },
  ).map((problem) => /"(\w+)" preflight/.exec(problem)![1]);

test("a set makes Machines where its control plane is stable and no more than three minors ahead", () => {
  assert.deepEqual(checks("v1.36.1", { version: "v1.36.1" }), []);
  assert.deepEqual(checks("v1.33.9", { version: "v1.36.0" }), []);
  assert.deepEqual(checks("v1.32.0", { version: "v1.36.0" }), ["KubernetesVersionSkew"]);
  assert.deepEqual(checks("v1.37.0", { version: "v1.36.9" }), ["KubernetesVersionSkew"]);
  assert.deepEqual(checks("v2.36.0", { version: "v1.36.0" }), ["KubernetesVersionSkew"]);
  assert.deepEqual(checks(undefined, { version: "v1.36.0" }), []);
});

test("a control plane without a version, or none at all, is not asked", () => {
  assert.deepEqual(checks("v1.36.1", undefined), []);
  assert.deepEqual(checks("v1.36.1", { versions: [] }), []);
});

test("a control plane that is made, or of which a part is behind its version, holds Machines back", () => {
  assert.deepEqual(checks("v1.36.0", { version: "v1.36.0", versions: [] }), ["ControlPlaneIsStable"]);
  for (const running of ["v1.36.1", "v1.35.9", "v0.99.9"])
    assert.deepEqual(checks("v1.36.2", { version: "v1.36.2", versions: ["v1.36.2", running] }), [
      "ControlPlaneIsStable",
    ]);
  for (const running of ["v1.36.3", "v1.37.0", "v2.0.0"])
    assert.deepEqual(checks("v1.36.2", { version: "v1.36.2", versions: [running] }), []);
});

test("kubeadm needs the control plane's own minor", () => {
  const of = { template: KUBEADM };
  assert.deepEqual(checks("v1.36.9", { version: "v1.36.0" }, of), []);
  assert.deepEqual(checks("v1.35.0", { version: "v1.36.0" }, of), ["KubeadmVersionSkew"]);
  assert.deepEqual(checks("v0.36.0", { version: "v1.36.0" }, of), ["KubernetesVersionSkew", "KubeadmVersionSkew"]);
  assert.deepEqual(checks(undefined, { version: "v1.36.0" }, of), []);
});

test("checks that the set or its bootstrap template names are skipped", () => {
  const plane = { version: "v1.36.0", versions: [] };
  const of = { template: KUBEADM };
  assert.deepEqual(checks("v1.32.0", plane, of).length, 3);
  assert.deepEqual(checks("v1.32.0", plane, { ...of, skip: "KubernetesVersionSkew, ControlPlaneIsStable" }), [
    "KubeadmVersionSkew",
  ]);
  assert.deepEqual(checks("v1.32.0", plane, { ...of, skip: "All" }), []);
  assert.deepEqual(checks("v1.32.0", plane, { ...of, templateSkip: "KubeadmVersionSkew" }), [
    "ControlPlaneIsStable",
    "KubernetesVersionSkew",
  ]);
});
