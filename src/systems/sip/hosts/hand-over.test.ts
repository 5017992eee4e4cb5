import assert from "node:assert/strict";
import { test } from "node:test";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE, NODE_TYPE } from "../../../kinds/sip/labels.ts";
import type { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import { consumer } from "./belonging.ts";
import { clusterAskedFor, handOvers, type Metal3Machine } from "./hand-over.ts";

const CLUSTER = { metadata: { namespace: "sub", name: "one", uid: "u-1" } } as SIPCluster;
const LABELS = { [CLUSTER_NAMESPACE]: "sub", [CLUSTER_NAME]: "one" };

const host = (name: string, { namespace = "metal", labels = {}, user = consumer(CLUSTER) as object } = {}) =>
  ({
    metadata: { namespace, name, labels: { ...LABELS, ...labels } },
    spec: { consumerRef: user },
  }) as unknown as BareMetalHost;
const machine = (
  name: string,
  { matchLabels = {}, ...metadata }: { matchLabels?: object; [field: string]: unknown } = {},
) =>
  ({
    metadata: { namespace: "metal", name, uid: `uid-${name}`, ...metadata },
    spec: { hostSelector: { matchLabels: { ...LABELS, ...matchLabels } } },
  }) as unknown as Metal3Machine;
const given = (hosts: readonly BareMetalHost[], ...machines: Metal3Machine[]): string[] =>
  handOvers(CLUSTER, hosts, machines).map(({ host: { metadata }, to }) => `${metadata.name} to ${to.name}`);

test("SIP-6 each machine that asks for the cluster gets one host, in the order of their names", () => {
  const hosts = [host("a"), host("b"), host("c")];
  assert.deepEqual(given(hosts, machine("m2"), machine("m1")), ["a to m1", "b to m2"]);
  assert.deepEqual(given([], machine("m1")), []);
  const [{ to } = assert.fail("none was given")] = handOvers(CLUSTER, hosts, [machine("m1")]);
  assert.deepEqual(to, {
    ...{ apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1", kind: "Metal3Machine" },
    ...{ name: "m1", namespace: "metal", uid: "uid-m1" },
  });
});

test("SIP-6 a machine gets a host that it selects, of its own namespace", () => {
  const hosts = [host("a"), host("b", { labels: { [NODE_TYPE]: "Worker" } }), host("c", { namespace: "other" })];
  assert.deepEqual(given(hosts, machine("m1", { matchLabels: { [NODE_TYPE]: "Worker" } })), ["b to m1"]);
  assert.deepEqual(given(hosts, machine("m1", { namespace: "other" })), ["c to m1"]);
});

for (const [what, one] of [
  ["asks for no cluster", { ...machine("m"), spec: {} }],
  ["asks for a cluster of another name", machine("m", { matchLabels: { [CLUSTER_NAME]: "two" } })],
  ["asks for one of another namespace", machine("m", { matchLabels: { [CLUSTER_NAMESPACE]: "other" } })],
  ["is being deleted", machine("m", { deletionTimestamp: "2026-01-01T00:00:00Z" })],
  ["has its host by the provider's word", machine("m", { annotations: { "metal3.io/BareMetalHost": "metal/x" } })],
] as const)
  test(`SIP-6 a machine gets none that ${what}`, () => {
    assert.deepEqual(given([host("a")], one as Metal3Machine), []);
  });

test("SIP-6 a machine that has a host of the cluster gets no second one, and a host that is used goes to nobody", () => {
  const m1 = { kind: "Metal3Machine", namespace: "metal", name: "m1" };
  const hosts = [host("a", { user: m1 }), host("b")];
  assert.deepEqual(given(hosts, machine("m1"), machine("m2")), ["b to m2"]);
  assert.deepEqual(given([host("a", { user: { ...consumer(CLUSTER), uid: "earlier" } })], machine("m1")), []);
});

test("SIP-6 which cluster a machine asks for is in both of its labels", () => {
  assert.deepEqual(clusterAskedFor(machine("m")), { namespace: "sub", name: "one" });
  for (const matchLabels of [{}, { [CLUSTER_NAME]: "one" }, { [CLUSTER_NAMESPACE]: "sub" }])
    assert.equal(clusterAskedFor({ ...machine("m"), spec: { hostSelector: { matchLabels } } }), undefined);
});
