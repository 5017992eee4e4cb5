import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { KubeadmConfig } from "../../kinds/kubeadm/kubeadm-config.ts";
import { refuseUnserved, waitOf } from "./bootstrap-plan.ts";
import { aCluster, aConfig, aWorker } from "./testing.ts";
import { LOOK_MS, TTL_MS, tokenStep } from "./token-plan.ts";

test("a configuration waits for its Machine, Cluster, infrastructure, control plane and endpoint, in this order", () => {
  const of = (more: Parameters<typeof aCluster>[0] = {}) => waitOf(aWorker(), aCluster(more));
  assert.equal(of(), undefined);
  assert.match(waitOf(undefined, undefined)!, /^a Machine that names it/);
  assert.match(waitOf(aWorker(), undefined)!, /^Cluster c1,/);
  const bare = { spec: {} };
  for (const status of [
    undefined,
    {},
    { initialization: { infrastructureProvisioned: false, controlPlaneInitialized: true } },
  ])
    assert.equal(of({ ...bare, status: status as object }), "the infrastructure of Cluster c1");
  const initialization = { infrastructureProvisioned: true };
  assert.match(of({ ...bare, status: { initialization } })!, /^the control plane of Cluster c1 to answer/);
  for (const endpoint of [undefined, { host: "", port: 6443 }, { host: "a", port: 0 }])
    assert.equal(of({ spec: { controlPlaneEndpoint: endpoint } }), "spec.controlPlaneEndpoint of Cluster c1");
});

test("what upstream's provider alone serves is refused with its field and what to do instead", () => {
  const refusal = (spec: object, worker = aWorker()): string => {
    try {
      refuseUnserved(aConfig(spec as KubeadmConfig["spec"]), worker);
    } catch (error) {
      assert.ok(isFault(error, "Invalid"));
      return error.advice;
    }
    return "";
  };
  assert.equal(refusal({ joinConfiguration: {}, files: [{ path: "/a", content: "x" }], format: "cloud-config" }), "");
  const head = aWorker({ "cluster.x-k8s.io/control-plane": "" });
  assert.match(refusal({}, head), /a Machine of the control plane is served .*; use a KamajiControlPlane/);
  assert.match(refusal({ clusterConfiguration: {} }), /spec\.clusterConfiguration is served/);
  assert.match(refusal({ initConfiguration: {} }), /spec\.initConfiguration is served/);
  assert.match(refusal({ joinConfiguration: { controlPlane: {} } }), /spec\.joinConfiguration\.controlPlane is served/);
  assert.match(refusal({ format: "ignition" }), /spec\.format ignition is served .*cloud-config/);
  assert.match(
    refusal({
      files: [
        { path: "/a", content: "x" },
        { path: "/b", contentFormat: "Template" },
      ],
    }),
    /contentFormat Template of \/b is served/,
  );
});

test("a token is made once, renewed well before it ends, and removed when the machine has joined", () => {
  const now = 1_000_000;
  const step = (left: number | undefined, hasJoined = false) =>
    tokenStep(left === undefined ? undefined : now + left, { hasJoined, now }).do;
  assert.equal(step(undefined), "make");
  assert.equal(step(TTL_MS), "keep");
  assert.equal(step(12.5 * 60_000), "keep");
  assert.equal(step(12.5 * 60_000 - 1), "renew");
  assert.equal(step(-1), "renew");
  assert.equal(step(undefined, true), "keep");
  assert.equal(step(TTL_MS, true), "remove");
  // Two looks in a row may fail, and the token is still valid.
  assert.equal(TTL_MS, 15 * 60_000);
  assert.equal(LOOK_MS, 5 * 60_000);
});
