import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, Fault, isFault, quietLog, systemClock } from "@slipway/base";
import { type Context, createClient, DONE, type KubeObject } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import type { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import type { AddressOrder, ElasticAddress } from "../../machines/elastic.ts";
import { clusterController } from "./cluster-controller.ts";
import { CLUSTER_FINALIZER } from "./names.ts";
import type { Packet } from "./shared.ts";
import { aPacketCluster } from "./testing.ts";

const REF = { namespace: "shop", name: "cluster-1" };
const TAGS = ["cluster-api-provider-packet:cluster-id:c1", "capp:namespace:shop"];
const ADDRESS: ElasticAddress = { id: "ip-1", address: "203.0.113.5", tags: TAGS, metro: "da", assignments: [] };
const ENDPOINT = { host: ADDRESS.address, port: 6443 };
const OWNER = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "c1", uid: "u" };

interface World {
  spec?: Partial<PacketCluster["spec"]>;
  status?: PacketCluster["status"];
  metadata?: object;
  owning?: object | undefined;
  /** Addresses of the project. */
  addresses?: ElasticAddress[];
  /** What the provider answers to an order; a fault is thrown. */
  answer?: ElasticAddress | Fault;
  /** The provider has no elastic IPs. */
  hasNone?: boolean;
  /** The account can't be used. */
  away?: Fault;
  now?: number;
}

/** A PacketCluster on an API, with its provider; `reconcile` is one pass of its controller. */
async function stage(world: World = {}) {
  const {
    spec = {},
    status,
    metadata = {},
    owning = {},
    addresses = [],
    answer = ADDRESS,
    hasNone = false,
    away,
    now = 0,
  } = world;
  const api = new FakeApi();
  const client = createClient(api, { clock: systemClock, random: cryptoRandom, log: quietLog });
  const { metadata: _, ...rest } = aPacketCluster({ metro: "da", ...spec }, status);
  await client.create(PacketCluster, {
    ...rest,
    metadata: { ...REF, generation: 3, finalizers: [CLUSTER_FINALIZER], ownerReferences: [OWNER], ...metadata },
  });
  const path = "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/shop/packetclusters/cluster-1";
  const calls: string[] = [];
  /** What the object said when the order went out. */
  let announced: unknown;
  const elastic = {
    list: async () => addresses,
    reserve: async ({ metro, tags }: AddressOrder) => {
      announced = (api.objects.get(path) as PacketCluster | undefined)?.status?.elasticIP?.requestedAt;
      calls.push(`reserve ${metro} ${tags.join()}`);
      if (answer instanceof Fault) throw answer;
      return answer;
    },
    release: async (id: string) => void calls.push(`release ${id}`),
    enableBgp: async (wish: object) => void calls.push(`bgp ${JSON.stringify(wish)}`),
  };
  const events: string[] = [];
  const add = (level: string) => (_: unknown, reason: string) => void events.push(`${level} ${reason}`);
  const cluster =
    owning && ({ metadata: { name: "c1", namespace: "shop" }, spec: {}, ...owning } as unknown as Cluster);
  const context = {
    ...{ client, clock: { now: () => now, monotonic: () => now }, signal: new AbortController().signal },
    ...{ clean: <T>(value: T): T => value, events: { normal: add("Normal"), warning: add("Warning") } },
    cache: {
      get: ({ kind }: { kind: string }) =>
        kind === "Cluster" ? cluster : (api.objects.get(path) as KubeObject | undefined),
    },
  } as unknown as Context;
  const refused: string[] = [];
  const driver = { type: "equinix", ...(!hasNone && { elastic }) };
  const packet = {
    accounts: {
      fleet: async () => (away === undefined ? { driver } : Promise.reject(away)),
      refused: (name: string) => void refused.push(name),
    },
    ...{ own: { namespace: "ns", secret: "own" }, bgp: { asn: 65_001, password: "secret" }, pollMs: 15_000 },
  } as unknown as Packet;
  const controller = clusterController(packet);
  const reconcile = () => controller.reconcile(REF, context).catch((error: unknown) => error);
  const object = async () => await client.find(PacketCluster, REF);
  const condition = async (type: string) => {
    const found = (await object())?.status?.conditions?.find((one) => one.type === type);
    return found && `${found.status} ${found.reason}`;
  };
  return { api, client, controller, calls, events, refused, reconcile, object, condition, announced: () => announced };
}

test("a PacketCluster waits for its Cluster, gets its finalizer first, and does nothing while it is paused", async () => {
  const alone = await stage({ metadata: { ownerReferences: [] } });
  assert.deepEqual(await alone.reconcile(), DONE);
  assert.deepEqual(
    [await alone.condition("Ready"), (await alone.object())?.status?.waitingFor],
    ["False WaitingForCluster", "a Cluster to own it"],
  );
  const fresh = await stage({ metadata: { finalizers: [] } });
  await fresh.reconcile();
  assert.deepEqual((await fresh.object())?.metadata.finalizers, [CLUSTER_FINALIZER]);
  assert.deepEqual([fresh.calls, (await fresh.object())?.status], [[], undefined]);
  const paused = await stage({ owning: { spec: { paused: true } }, addresses: [ADDRESS] });
  await paused.reconcile();
  assert.deepEqual([await paused.condition("Paused"), paused.calls], ["True Paused", []]);
  assert.match((await paused.object())?.status?.waitingFor ?? "", /unpaused$/);
});

test("B32 a PacketCluster that something else manages is not touched; what is held of it is given back all the same", async () => {
  const annotations = { "cluster.x-k8s.io/managed-by": "other" };
  const foreign = await stage({ metadata: { annotations, finalizers: [] } });
  await foreign.reconcile();
  assert.deepEqual([(await foreign.object())?.metadata.finalizers, (await foreign.object())?.status], [[], undefined]);
  const elasticIP = { id: "ip-1", address: ADDRESS.address };
  const leaving = await stage({
    metadata: { annotations, deletionTimestamp: "x" },
    status: { elasticIP },
    addresses: [ADDRESS],
  });
  await leaving.reconcile();
  assert.deepEqual(leaving.calls, ["release ip-1"]);
  const free = await stage({
    metadata: { finalizers: [], deletionTimestamp: "x" },
    status: { elasticIP },
    addresses: [ADDRESS],
  });
  await free.reconcile();
  assert.deepEqual(free.calls, []);
});

test("B2 an address is announced, ordered once with its tags, written down, and is the endpoint; then the cluster is ready", async () => {
  const here = await stage({ now: 1_000 });
  assert.deepEqual(await here.reconcile(), { againAfterMs: 0 });
  assert.equal(here.announced(), "1970-01-01T00:00:01.000Z");
  assert.deepEqual(here.calls, [`reserve da ${TAGS.join()}`]);
  const taken = (await here.object())!;
  assert.deepEqual(taken.status?.elasticIP, {
    id: "ip-1",
    address: ADDRESS.address,
    requestedAt: "1970-01-01T00:00:01.000Z",
  });
  assert.deepEqual([taken.spec.controlPlaneEndpoint, here.events], [ENDPOINT, ["Normal EndpointReserved"]]);
  assert.deepEqual(await here.reconcile(), DONE);
  const { status } = (await here.object())!;
  assert.deepEqual(
    [status?.ready, status?.initialization, status?.observedGeneration],
    [true, { provisioned: true }, 3],
  );
  assert.deepEqual(
    [await here.condition("Ready"), await here.condition("NetworkInfrastructureReady"), await here.condition("Paused")],
    ["True NetworkInfrastructureReady", "True NetworkInfrastructureReady", "False NotPaused"],
  );
  assert.equal(here.calls.length, 1);
});

test("B33 an address that is there already is taken, and its metro is the cluster's or its facility", async () => {
  const there = await stage({ addresses: [ADDRESS] });
  await there.reconcile();
  assert.deepEqual(
    [there.calls, (await there.object())?.status?.elasticIP],
    [[], { id: "ip-1", address: ADDRESS.address }],
  );
  const old = await stage({ spec: { metro: undefined as never, facility: "ny5" } });
  await old.reconcile();
  assert.match(old.calls[0]!, /^reserve ny5 /);
});

test("B34 a refusal takes the announcement back; an answer that is lost leaves it, and the order is looked for", async () => {
  const refused = await stage({ answer: new Fault("Throttled", "api", "later") });
  assert.ok(isFault(await refused.reconcile(), "Throttled"));
  assert.deepEqual(
    [(await refused.object())?.status?.elasticIP, await refused.condition("Stalled")],
    [undefined, "True Throttled"],
  );
  const lost = await stage({ answer: new Fault("LostAnswer", "api", "no answer") });
  assert.ok(isFault(await lost.reconcile(), "LostAnswer"));
  assert.ok((await lost.object())?.status?.elasticIP?.requestedAt);
  assert.deepEqual(await lost.reconcile(), { againAfterMs: 10_000 });
  assert.deepEqual([await lost.condition("Ready"), lost.calls.length], ["False Reserving", 1]);
});

test("KUBE_VIP lets the project announce addresses, with the operator's number and password", async () => {
  const here = await stage({ spec: { vipManager: "KUBE_VIP" } });
  await here.reconcile();
  assert.deepEqual(here.calls, ['bgp {"asn":65001,"password":"secret"}', `reserve da ${TAGS.join()}`]);
});

test("B39 what can't work is refused on the object: EMLB, and a provider without elastic IPs", async () => {
  const ended = await stage({ spec: { vipManager: "EMLB" } });
  assert.deepEqual(await ended.reconcile(), DONE);
  assert.equal(await ended.condition("Ready"), "False LoadBalancerEnded");
  const none = await stage({ hasNone: true });
  const outcome = await none.reconcile();
  assert.ok(isFault(outcome, "Invalid"));
  assert.match(
    outcome.advice,
    /vipManager CPEM: a provider of type equinix has no elastic IPs; create it with vipManager NONE/,
  );
  const key = await stage({ away: new Fault("BadCredentials", "api", "401") });
  await key.reconcile();
  assert.deepEqual(key.refused, ["Secret/ns/manager-api-credentials of project project-1"]);
});

const LEAVING = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const HELD = { elasticIP: { id: "ip-1", address: ADDRESS.address } };
const isHeld = async ({ object }: Awaited<ReturnType<typeof stage>>) =>
  (await object())?.metadata.finalizers?.includes(CLUSTER_FINALIZER) === true;

test("B33 a deleted cluster gives back its address by id and by tags, and no other; with Retain it is kept", async () => {
  const others = [
    { ...ADDRESS, id: "ip-2" },
    { ...ADDRESS, id: "ip-3", tags: TAGS.slice(0, 1) },
    { ...ADDRESS, id: "ip-4", tags: [] },
  ];
  const labels = { "cluster.x-k8s.io/cluster-name": "c1" };
  const here = await stage({
    metadata: { ...LEAVING, labels },
    status: HELD,
    addresses: [{ ...ADDRESS, tags: [] }, ...others],
  });
  assert.deepEqual(await here.reconcile(), DONE);
  assert.deepEqual([here.calls, await isHeld(here)], [["release ip-1", "release ip-2"], false]);
  assert.deepEqual(here.events, ["Normal AddressReleased", "Normal AddressReleased"]);
  const kept = await stage({
    metadata: LEAVING,
    spec: { reclaimPolicy: "Retain" },
    status: HELD,
    addresses: [ADDRESS],
  });
  await kept.reconcile();
  assert.deepEqual([kept.calls, kept.events, await isHeld(kept)], [[], ["Normal Retained"], false]);
  const nothing = await stage({ metadata: LEAVING, away: new Fault("Unavailable", "api", "x") });
  assert.deepEqual([await nothing.reconcile(), await isHeld(nothing)], [DONE, false]);
});

test("B35 an order whose answer was lost is waited for before the cluster goes", async () => {
  const status = { elasticIP: { requestedAt: "1970-01-01T00:00:00.000Z" } };
  const at = (now: number, addresses: ElasticAddress[] = []) => stage({ metadata: LEAVING, status, now, addresses });
  const early = await at(45_000);
  assert.deepEqual([await early.reconcile(), await isHeld(early)], [{ againAfterMs: 10_000 }, true]);
  assert.match((await early.object())?.status?.waitingFor ?? "", /may have reserved an elastic IP$/);
  const nearly = await at(55_000);
  assert.deepEqual(await nearly.reconcile(), { againAfterMs: 5_000 });
  const over = await at(60_000);
  assert.deepEqual([await over.reconcile(), await isHeld(over)], [DONE, false]);
  const found = await at(1_000, [ADDRESS]);
  assert.deepEqual([await found.reconcile(), found.calls], [DONE, ["release ip-1"]]);
});

test("B49 a provider that can't be asked holds the cluster and says the way out, which leaves a record", async () => {
  const away = new Fault("Unavailable", "api", "no answer");
  const held = await stage({ metadata: LEAVING, status: HELD, away });
  const outcome = await held.reconcile();
  assert.ok(isFault(outcome, "Unavailable"));
  assert.match(
    outcome.remedy ?? "",
    /kubectl annotate packetcluster -n shop cluster-1 .*leaves elastic IP 203\.0\.113\.5 as it is/,
  );
  assert.equal(await isHeld(held), true);
  const annotations = { "slipway.dev/abandon-machine": "true" };
  const free = await stage({ metadata: { ...LEAVING, annotations }, status: HELD, away });
  assert.deepEqual([await free.reconcile(), await isHeld(free)], [DONE, false]);
  assert.deepEqual(free.events, ["Warning AddressAbandoned"]);
  const { data = {} } = await free.client.get(ConfigMap, { namespace: "ns", name: "slipway-abandoned-machines" });
  const [entry] = Object.values(data).map((text) => JSON.parse(text));
  assert.deepEqual(
    [entry.address, entry.find, entry.project, entry.reason],
    [ADDRESS.address, TAGS.join(", "), "project-1", away.message],
  );
  const conflict = await stage({
    metadata: { ...LEAVING, annotations },
    status: HELD,
    away: new Fault("Conflict", "it", "x"),
  });
  assert.ok(isFault(await conflict.reconcile(), "Conflict"));
});

test("a Cluster's pause and endpoint concern its PacketCluster, by the reference that it has; other changes do not", async () => {
  const { controller } = await stage();
  const source = controller.sources.find(({ resource }) => resource.kind === "Cluster") as unknown as {
    when(now: object, before: object): boolean;
    keys(cluster: object): unknown[];
  };
  const cluster = (spec: object, labels = {}) => ({ metadata: { name: "c1", namespace: "shop", labels }, spec });
  const plain = cluster({ infrastructureRef: { kind: "PacketCluster", name: "cluster-1" } });
  assert.equal(source.when(plain, cluster({}, { a: "b" })), false);
  assert.equal(source.when(cluster({ paused: true }), plain), true);
  assert.equal(source.when(cluster({ controlPlaneEndpoint: ENDPOINT }), plain), true);
  assert.deepEqual(
    source.keys(plain),
    [REF].map(({ namespace, name }) => ({ name, namespace })),
  );
  assert.deepEqual(source.keys(cluster({ infrastructureRef: { kind: "OtherCluster", name: "x" } })), []);
  assert.deepEqual(source.keys(cluster({})), []);
});

test("its rights are those that it uses", async () => {
  const { controller } = await stage();
  const rights = controller.access.map(
    ({ resource, verbs, subresource }) => `${resource.kind}${subresource ? `/${subresource}` : ""} ${verbs.join()}`,
  );
  assert.deepEqual(rights.slice(0, 4), [
    "PacketCluster get,update,patch",
    "PacketCluster/status get,update,patch",
    "MachineProvider get",
    "Secret get",
  ]);
});
