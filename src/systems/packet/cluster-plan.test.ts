import assert from "node:assert/strict";
import { test } from "node:test";
import type { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import type { ElasticAddress } from "../../machines/elastic.ts";
import { type ClusterView, endpointOf, planAddress, planCluster } from "./cluster-plan.ts";
import { aPacketCluster } from "./testing.ts";

const NOW = Date.UTC(2026, 0, 1);
const ENDPOINT = { host: "203.0.113.5", port: 6443 };
const TAGS = ["cluster-api-provider-packet:cluster-id:c1", "capp:namespace:shop"];

const view = (
  spec: Partial<PacketCluster["spec"]>,
  status?: PacketCluster["status"],
  more: Partial<ClusterView> = {},
): ClusterView => ({
  cluster: aPacketCluster(spec, status),
  ...{ name: "c1", endpoint: undefined, requestedAt: undefined, now: NOW },
  ...more,
});
const address = (more: Partial<ElasticAddress> = {}): ElasticAddress => ({
  ...{ id: "ip-1", address: ENDPOINT.host, tags: TAGS, metro: "da", assignments: [] },
  ...more,
});

test("B39 EMLB is refused in words, even with an endpoint", () => {
  const step = planCluster(view({ vipManager: "EMLB", controlPlaneEndpoint: ENDPOINT }));
  assert.deepEqual([step.do, step.do === "refuse" && step.reason], ["refuse", "LoadBalancerEnded"]);
});

test("B32 vipManager NONE is ready by an endpoint of its own or of the Cluster, and waits for either", () => {
  assert.equal(planCluster(view({ vipManager: "NONE", controlPlaneEndpoint: ENDPOINT })).do, "ready");
  assert.equal(planCluster(view({ vipManager: "NONE" }, undefined, { endpoint: ENDPOINT })).do, "ready");
  const step = planCluster(view({ vipManager: "NONE" }));
  assert.ok(step.do === "wait");
  assert.deepEqual([step.reason, step.severity], ["WaitingForControlPlaneEndpoint", "Info"]);
  assert.match(step.what, /^the control plane's endpoint/);
});

test("B32 the Cluster's endpoint alone makes no other manager ready: the address is looked for", () => {
  assert.equal(planCluster(view({}, undefined, { endpoint: ENDPOINT })).do, "look");
  assert.equal(planCluster(view({ vipManager: "KUBE_VIP" })).do, "look");
});

test("a cluster that has its address and its endpoint asks the provider nothing", () => {
  const elasticIP = { id: "ip-1", address: ENDPOINT.host };
  assert.equal(planCluster(view({ controlPlaneEndpoint: ENDPOINT }, { elasticIP })).do, "ready");
  assert.equal(planCluster(view({}, { elasticIP })).do, "look");
  assert.equal(
    planCluster(view({ controlPlaneEndpoint: { ...ENDPOINT, host: "api.test" } }, { elasticIP })).do,
    "look",
  );
  assert.equal(
    planCluster(view({ controlPlaneEndpoint: ENDPOINT }, { elasticIP: { address: ENDPOINT.host } })).do,
    "look",
  );
});

test("a provisioned cluster whose endpoint a user wrote, and for which nothing was asked, stays as it is", () => {
  const written = { controlPlaneEndpoint: ENDPOINT };
  const provisioned = { initialization: { provisioned: true } };
  assert.equal(planCluster(view(written, provisioned)).do, "ready");
  assert.equal(planCluster(view(written)).do, "look");
  assert.equal(planCluster(view(written, { initialization: { provisioned: false } })).do, "look");
  assert.equal(planCluster(view({}, provisioned)).do, "look");
  const asked = { ...provisioned, elasticIP: { requestedAt: "2026-01-01T00:00:00Z" } };
  assert.equal(planCluster(view(written, asked)).do, "look");
});

test("B33 an address is the cluster's by both tags; the name alone is another namespace's cluster", () => {
  assert.deepEqual(planAddress(view({}), [address()]), { do: "take", address: address() });
  for (const tag of TAGS) assert.equal(planAddress(view({}), [address({ tags: [tag] })]).do, "reserve");
  assert.equal(planAddress(view({}), []).do, "reserve");
});

test("B51 the original's address, by the name alone, is the cluster's if it is the endpoint", () => {
  const originals = address({ tags: TAGS.slice(0, 1) });
  assert.deepEqual(planAddress(view({ controlPlaneEndpoint: ENDPOINT }), [originals]), {
    do: "take",
    address: originals,
  });
  const elsewhere = address({ tags: TAGS.slice(0, 1), address: "203.0.113.9" });
  assert.equal(planAddress(view({ controlPlaneEndpoint: ENDPOINT }), [elsewhere]).do, "ready");
  assert.equal(planAddress(view({ controlPlaneEndpoint: ENDPOINT }), [address({ tags: [] })]).do, "ready");
});

test("an address of the cluster that is not its endpoint is not taken: the user wrote another one", () => {
  const written = view({ controlPlaneEndpoint: { host: "api.test", port: 443 } });
  assert.equal(planAddress(written, [address()]).do, "ready");
  assert.equal(planAddress(written, []).do, "ready");
});

test("B35 an order without an answer is looked for every 10 s, and repeated only when a list can't miss it any more", () => {
  const at = (age: number) => planAddress(view({}, undefined, { requestedAt: NOW - age }), []);
  const step = at(0);
  assert.ok(step.do === "wait");
  assert.deepEqual([step.reason, step.recheckMs], ["Reserving", 10_000]);
  assert.equal((at(55_000) as { recheckMs?: number }).recheckMs, 5_000);
  assert.equal(at(59_999).do, "wait");
  assert.equal(at(60_000).do, "reserve");
});

test("an endpoint is one with a host and a port", () => {
  assert.deepEqual(endpointOf({ controlPlaneEndpoint: ENDPOINT }), ENDPOINT);
  assert.equal(endpointOf({ controlPlaneEndpoint: { host: "", port: 6443 } }), undefined);
  assert.equal(endpointOf({ controlPlaneEndpoint: { host: "a", port: 0 } }), undefined);
  assert.equal(endpointOf({}), undefined);
});
