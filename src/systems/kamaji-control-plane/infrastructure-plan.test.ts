import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { type EndpointWay, infrastructureStep, wayOf } from "./infrastructure-plan.ts";
import { aControlPlane } from "./testing.ts";

const ENDPOINT = { host: "203.0.113.5", port: 6443 };
const WAY = "slipway.dev/control-plane-endpoint";
const object = (kind: string, more: { spec?: object; status?: object; annotations?: Record<string, string> } = {}) => {
  const { annotations, ...rest } = more;
  return { kind, metadata: { name: "c1", ...(annotations && { annotations }) }, ...rest } as unknown as KubeObject;
};
const step = (way: EndpointWay | undefined, more: Parameters<typeof object>[1] = {}, kind = "VSphereCluster") =>
  infrastructureStep(object(kind, more), way, ENDPOINT);
const SET = { spec: { controlPlaneEndpoint: ENDPOINT } };
const OTHER = { spec: { controlPlaneEndpoint: { host: "203.0.113.9", port: 6443 } } };
const PROVISIONED = { status: { ready: true, initialization: { provisioned: true } } };

test("B14 the way goes by the object's annotation, the control plane's, management from outside, then the kind", () => {
  const plane = aControlPlane();
  const way = (kind: string, annotations?: Record<string, string>, of = plane) =>
    wayOf(object(kind, annotations && { annotations }), of);
  for (const kind of ["PacketCluster", "KubevirtCluster", "NutanixCluster"]) assert.equal(way(kind), "provision");
  for (const kind of ["Metal3Cluster", "MetalStackCluster"]) assert.equal(way(kind), "check");
  assert.equal(way("VSphereCluster"), "write");
  const managed = { "cluster.x-k8s.io/managed-by": "terraform" };
  assert.equal(way("Metal3Cluster", managed), "provision");
  const chosen = aControlPlane({}, { annotations: { [WAY]: "skip" } });
  assert.equal(way("VSphereCluster", managed, chosen), "skip");
  assert.equal(way("VSphereCluster", { [WAY]: "check" }, chosen), "check");
  assert.equal(way("VSphereCluster", { [WAY]: "sometimes" }, chosen), undefined);
});

test("B14 an annotation without meaning is reported with the words that there are", () => {
  const said = step(undefined);
  assert.ok(said.do === "report");
  assert.match(said.problem, /names no way that there is/);
  assert.equal(said.remedy, "use one of provision, write, check, skip");
});

test("B9 write: a missing endpoint is written, and nothing else", () => {
  assert.deepEqual(step("write"), { do: "patch", spec: { controlPlaneEndpoint: ENDPOINT } });
  for (const half of [
    { host: "", port: 6443 },
    { host: ENDPOINT.host, port: 0 },
  ])
    assert.equal(step("write", { spec: { controlPlaneEndpoint: half } }).do, "patch");
  assert.deepEqual(step("write", SET), { do: "nothing" });
});

test("B9 provision: endpoint and readiness are written, each where it is missing", () => {
  const status = { ready: true, initialization: { provisioned: true } };
  assert.deepEqual(step("provision"), { do: "patch", spec: { controlPlaneEndpoint: ENDPOINT }, status });
  assert.deepEqual(step("provision", SET), { do: "patch", status });
  assert.deepEqual(step("provision", PROVISIONED), { do: "patch", spec: { controlPlaneEndpoint: ENDPOINT } });
  assert.deepEqual(step("provision", { ...SET, ...PROVISIONED }), { do: "nothing" });
  assert.deepEqual(step("provision", { ...OTHER, ...PROVISIONED }), {
    do: "patch",
    spec: { controlPlaneEndpoint: ENDPOINT },
  });
  const half = { ...SET, status: { ready: true, initialization: { other: 1 } } };
  assert.deepEqual(step("provision", half), {
    do: "patch",
    status: { ready: true, initialization: { other: 1, provisioned: true } },
  });
  assert.equal(step("provision", { ...SET, status: { initialization: { provisioned: true } } }).do, "patch");
});

test("B14 check: nothing is written; an endpoint that is missing is reported with the one to set", () => {
  const said = step("check");
  assert.ok(said.do === "report");
  assert.equal(said.problem, "VSphereCluster/c1 has no endpoint");
  assert.match(said.remedy, /to 203\.0\.113\.5:6443/);
  assert.deepEqual(step("check", SET), { do: "nothing" });
});

test("B14 an endpoint that differs is reported with both addresses, unless the object is ours to provision", () => {
  for (const way of ["write", "check"] as const) {
    const said = step(way, OTHER);
    assert.ok(said.do === "report");
    assert.equal(
      said.problem,
      "VSphereCluster/c1 has the endpoint 203.0.113.9:6443, and the control plane is at 203.0.113.5:6443",
    );
  }
  assert.equal(step("write", { spec: { controlPlaneEndpoint: { ...ENDPOINT, port: 443 } } }).do, "report");
  assert.deepEqual(step("skip", OTHER), { do: "nothing" });
});

test("OpenStack's clusters have fields of their own for the endpoint", () => {
  const fields = { apiServerFixedIP: ENDPOINT.host, apiServerPort: ENDPOINT.port };
  assert.deepEqual(step("write", {}, "OpenStackCluster"), { do: "patch", spec: fields });
  assert.deepEqual(step("write", { spec: fields }, "OpenStackCluster"), { do: "nothing" });
  assert.equal(step("write", SET, "OpenStackCluster").do, "patch");
  assert.equal(step("write", { spec: { ...fields, apiServerPort: 443 } }, "OpenStackCluster").do, "report");
});
