import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import { type Cache, type Context, conditionOf, createClient, type KubeObject, type Resource } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HostDeployPolicy } from "../../kinds/metal3/host-deploy-policy.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE, FINALIZER, NODE_TYPE } from "../../kinds/sip/labels.ts";
import { SIPCluster } from "../../kinds/sip/sip-cluster.ts";
import { sipClusterController } from "./cluster-controller.ts";

const REF = { namespace: "sub", name: "one" };
const JUMP_HOST = {
  ...{ image: "quay.io/airshipit/jump-host", nodePort: 30_000, nodeInterfaceId: "oam" },
  ...{ sshAuthorizedKeys: ["none"], nodeSSHPrivateKeys: "ssh" },
};

interface World {
  services?: object;
  status?: object;
  hosts?: readonly BareMetalHost[];
  /** What a host's network data are; undefined: the Secret is not there. */
  networkData?: object | undefined;
  policies?: readonly object[];
  /** Labels of the cluster's namespace. */
  labels?: Record<string, string>;
  /** Which hosts may be workers. */
  labelSelector?: object;
  /** The namespace of hosts, of their Secrets and of policies. */
  yard?: string;
}

/** A host that can be had. */
const free = (name: string, namespace = "metal"): BareMetalHost =>
  ({
    metadata: { namespace, name, labels: {} },
    spec: { networkData: { name: `${name}-network` } },
    status: { provisioning: { state: "available" } },
  }) as unknown as BareMetalHost;
const labelled = (name: string): BareMetalHost => {
  const host = free(name);
  host.metadata.labels = { [CLUSTER_NAMESPACE]: "sub", [CLUSTER_NAME]: "one", [NODE_TYPE]: "Worker" };
  return host;
};

/** A SIPCluster that asks for one host, on an API with hosts of another namespace. The cache is as the API. */
async function stage(world: World = {}) {
  const { services = {}, status, hosts = [], networkData, policies = [], labels = {} } = world;
  const { labelSelector = {}, yard = "metal" } = world;
  const api = new FakeApi();
  // None is reserved that the cache does not have.
  const none = { kind: "List", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: [] };
  api.intercept = ({ path }) =>
    path.endsWith("/v1alpha1/baremetalhosts") ? { status: 200, headers: {}, body: none } : undefined;
  const client = createClient(api, { clock: systemClock, random: cryptoRandom, log: quietLog });
  const Worker = { labelSelector, count: { active: 1, standby: 0 } };
  await client.create(SIPCluster, {
    metadata: { ...REF, generation: 2, finalizers: [FINALIZER] },
    ...{ spec: { nodes: { Worker }, services }, ...(status && { status }) },
  } as never);
  await client.create(Namespace, { metadata: { name: "sub", labels } } as never);
  for (const host of hosts) {
    await client.create(BareMetalHost, host as never);
    const value = networkData && Buffer.from(JSON.stringify(networkData)).toString("base64");
    const metadata = { namespace: yard, name: `${host.metadata.name}-network` };
    if (value !== undefined) await client.create(Secret, { metadata, data: { networkData: value } });
  }
  for (const [at, spec] of policies.entries())
    await client.create(HostDeployPolicy, { metadata: { namespace: yard, name: `p${at}` }, spec } as never);
  const of = ({ plural }: Resource) => [...api.objects].filter(([path]) => path.includes(`/${plural}/`));
  const cache = {
    get: (resource: Resource, { name }: { name: string }) =>
      of(resource).find(([, { metadata }]) => metadata.name === name)?.[1],
    list: (resource: Resource, namespace?: string) =>
      of(resource)
        .map(([, object]) => object)
        .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
    byIndex: () => [],
  };
  const events: string[] = [];
  const add = (_: KubeObject, reason: string, message: string) => void events.push(`${reason}: ${message}`);
  const context = {
    ...{ client, cache, log: quietLog, random: cryptoRandom, signal: new AbortController().signal },
    clock: { now: () => 1_000, monotonic: () => 1_000 },
    ...{ clean: <T>(value: T): T => value, events: { normal: add, warning: add } },
  } as unknown as Context;
  const controller = sipClusterController();
  const reconcile = () => controller.reconcile(REF, context);
  const ready = async () => {
    const { status } = (await client.find(SIPCluster, REF))!;
    const { status: is, reason, message } = conditionOf(status?.conditions, "Ready")!;
    return { is: `${is} ${reason}`, message, scheduled: status?.scheduled, passedOver: status?.passedOver };
  };
  const labelsOf = async (name: string) =>
    (await client.find(BareMetalHost, { namespace: yard, name }))!.metadata.labels;
  return { reconcile, ready, events, labelsOf };
}

test("each SIPCluster is an owner of its own, so that replicas share them out, and names in several namespaces stay apart", () => {
  const { owner } = sipClusterController();
  const owners = [
    { namespace: "a", name: "quay" },
    { namespace: "a", name: "dock" },
    { namespace: "b", name: "quay" },
  ].map((ref) => owner?.(ref, {} as Cache));
  assert.deepEqual(owners, ["sipclusters/a/quay", "sipclusters/a/dock", "sipclusters/b/quay"]);
});

test("SIP-6 a host wakes the cluster whose labels it has, and the one that has reserved it", () => {
  const source = sipClusterController().sources.find(
    ({ resource }) => resource.kind === "BareMetalHost",
  ) as unknown as {
    keys(host: BareMetalHost, before: BareMetalHost | undefined, cache: object): unknown[];
  };
  const keys = (host: BareMetalHost, before?: BareMetalHost) => source.keys(host, before, { list: () => [] });
  const reserved = free("a");
  reserved.spec.consumerRef = { apiVersion: "airship.airshipit.org/v1", kind: "SIPCluster", ...REF };
  assert.deepEqual(keys(free("a")), []);
  assert.deepEqual(keys(labelled("a")), [REF]);
  assert.deepEqual(keys(reserved), [REF]);
  assert.deepEqual(keys(free("a"), labelled("a")), [REF], "it was in it");
  reserved.spec.consumerRef.kind = "HostClaim";
  assert.deepEqual(keys(reserved), []);
});

test("SIP-2 SIP-17 a cluster that is short says so once, looks again soon, and then every minute", async () => {
  const { reconcile, ready, events } = await stage();
  const message = "role Worker has 0 of 1 hosts; others were passed over: there are none";
  assert.deepEqual(await reconcile(), { againAfterMs: 1_000 });
  assert.deepEqual(await ready(), { is: "False Unschedulable", message, scheduled: "0/1", passedOver: undefined });
  assert.deepEqual(await reconcile(), { againAfterMs: 60_000 });
  assert.deepEqual(events, [`Unschedulable: ${message}`]);
});

test("SIP-6 a host of a namespace with policies is claimed where one of them lets the cluster's namespace, by its labels", async () => {
  const policies = [{ hostClaimNamespaces: { hasLabels: [{ name: "team", value: "quay" }] } }];
  const world = { hosts: [free("a")], networkData: { networks: [] }, policies };
  const allowed = await stage({ ...world, labels: { team: "quay" } });
  await allowed.reconcile();
  const { is, scheduled } = await allowed.ready();
  assert.deepEqual([is, scheduled], ["True ReconciliationSucceeded", "1/1"]);
  assert.equal((await allowed.labelsOf("a"))?.[CLUSTER_NAME], "one");
  assert.deepEqual(allowed.events, [
    "HostsClaimed: metal/a for Worker",
    "ReconciliationSucceeded: 1 hosts, and all services answer",
  ]);
  const closed = await stage({ ...world, labels: { team: "dock" } });
  await closed.reconcile();
  assert.match((await closed.ready()).message, /no HostDeployPolicy of namespace metal lets this one have its hosts/);
  assert.equal((await closed.labelsOf("a"))?.[CLUSTER_NAME], undefined);
});

test("SIP-6 hosts of the cluster's own namespace are claimed whatever its policies say", async () => {
  const policies = [{ hostClaimNamespaces: { names: ["elsewhere"] } }];
  const world = await stage({ hosts: [free("a", "sub")], networkData: { networks: [] }, policies, yard: "sub" });
  await world.reconcile();
  assert.deepEqual([(await world.ready()).scheduled, (await world.labelsOf("a"))?.[CLUSTER_NAME]], ["1/1", "one"]);
});

test("SIP-17 a selector that is none is the cluster's reason, by its role, and is not looked at again", async () => {
  const labelSelector = { matchExpressions: [{ key: "a", operator: "Near" }] };
  const { reconcile, ready, labelsOf } = await stage({ labelSelector, hosts: [free("a")] });
  assert.deepEqual(await reconcile(), { done: true });
  const { is, message } = await ready();
  assert.equal(is, "False Unschedulable");
  assert.match(message, /^role Worker: .*Near/);
  assert.equal((await labelsOf("a"))?.[CLUSTER_NAME], undefined);
});

test("SIP-6 passes of one process take hosts one after another: none finds that another took its host meanwhile", async () => {
  const { reconcile, events } = await stage({ hosts: [free("a")], networkData: { networks: [] } });
  await Promise.allSettled([reconcile(), reconcile()]);
  const claims = events.filter((event) => /^(HostsClaimed|Unschedulable)/.test(event));
  assert.deepEqual(claims, ["HostsClaimed: metal/a for Worker"]);
});

test("SIP-17 a host that another cluster has is passed over, and says which, its namespace or not", async () => {
  const others = [free("a"), free("b")];
  others[0]!.metadata.labels = { [CLUSTER_NAMESPACE]: "other", [CLUSTER_NAME]: "two" };
  others[1]!.metadata.labels = { [CLUSTER_NAME]: "two" };
  const { reconcile, ready } = await stage({ hosts: others });
  await reconcile();
  assert.match((await ready()).message, /passed over: 1: in cluster other\/two, 1: in cluster \/two$/);
});

test("SIP-4 a host of the cluster whose Secrets are gone keeps its addresses, and without any it is the reason", async () => {
  const services = { jumpHost: [JUMP_HOST] };
  const unknown = await stage({ hosts: [labelled("a")], services });
  await unknown.reconcile();
  const { is, message } = await unknown.ready();
  assert.equal(is, "False InfraServiceFailure");
  assert.match(message, /^metal\/a: .*a-network/);
  const hosts = [{ namespace: "metal", name: "a", role: "Worker", addresses: { oam: "10.0.0.5" } }];
  const known = await stage({ hosts: [labelled("a")], services, status: { hosts } });
  await known.reconcile();
  assert.doesNotMatch((await known.ready()).message, /a-network/);
});

test("SIP-17 a service that can't be is the cluster's reason, by its place in the specification", async () => {
  const networkData = { networks: [{ id: "oam", ip_address: "10.0.0.5" }] };
  const { reconcile, ready } = await stage({
    hosts: [labelled("a")],
    networkData,
    services: { jumpHost: [JUMP_HOST] },
  });
  await reconcile();
  const { is, message } = await ready();
  assert.equal(is, "False InfraServiceFailure");
  assert.match(message, /spec\.services\.jumpHost\[0\]/);
});
