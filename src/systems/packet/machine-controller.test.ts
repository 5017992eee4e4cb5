import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, Fault, isFault, quietLog, systemClock } from "@slipway/base";
import { type Context, createClient, DONE, type KubeObject } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { FakeApi, failure } from "@slipway/kube/testing";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import type { Machine, Order } from "../../machines/machine.ts";
import { Patience } from "../../machines/patience.ts";
import { aMachine } from "../../machines/testing.ts";
import { MachineBoots } from "./boots.ts";
import { machineController } from "./machine-controller.ts";
import { MACHINE_FINALIZER } from "./names.ts";
import type { Packet } from "./shared.ts";
import { aPacketCluster, aPacketMachine } from "./testing.ts";

const REF = { namespace: "shop", name: "worker-1" };
const PATH = "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/shop/packetmachines/worker-1";
const MACHINE = {
  metadata: { name: "m", namespace: "shop", uid: "uid-m" },
  spec: {
    clusterName: "c1",
    bootstrap: { dataSecretName: "data" },
    version: "v1.34.2",
    infrastructureRef: { kind: "PacketMachine", name: "worker-1" },
  },
};
const CLUSTER = {
  metadata: { name: "c1", namespace: "shop", uid: "uid-c" },
  spec: { infrastructureRef: { kind: "PacketCluster", name: "cluster-1" } },
  status: { initialization: { infrastructureProvisioned: true } },
};
const OWNER = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Machine", name: "m", uid: "uid-m" };

interface World {
  spec?: Partial<PacketMachine["spec"]>;
  status?: PacketMachine["status"];
  metadata?: object;
  machine?: object | undefined;
  cluster?: object;
  packetCluster?: ReturnType<typeof aPacketCluster> | undefined;
  /** What the provider says when it is asked for the machine by its id. */
  sight?: Machine | "gone";
  /** Machines of the account. */
  all?: Machine[];
  fails?: Fault;
}

/** JSON patches of a status, which the fake API leaves out. */
function patchStatus(api: FakeApi, operations: readonly { op: string; path: string; value?: unknown }[]) {
  const object = structuredClone(api.objects.get(PATH)) as KubeObject & { status?: Record<string, unknown> };
  for (const { op, path, value } of operations) {
    const name = path.replace(/^\/status\/?/, "");
    if (op === "test") continue;
    if (name === "") object.status = value as Record<string, unknown>;
    else if (op === "remove") delete object.status?.[name];
    else object.status = { ...object.status, [name]: value };
  }
  return { status: 200, headers: {}, body: api.put(PATH, object) };
}

/** A PacketMachine on an API, with its surroundings and its provider. */
async function stage(world: World = {}) {
  const { spec = {}, status, metadata = {}, sight = aMachine(), all = [], fails } = world;
  const api = new FakeApi();
  api.intercept = ({ body, path }) =>
    Array.isArray(body) ? (path.startsWith(PATH) ? patchStatus(api, body) : failure(500, "Internal", path)) : undefined;
  const client = createClient(api, { clock: systemClock, random: cryptoRandom, log: quietLog });
  const { metadata: _, ...rest } = aPacketMachine(spec, status);
  const finalizers = [MACHINE_FINALIZER];
  await client.create(PacketMachine, {
    ...rest,
    metadata: { ...REF, generation: 3, finalizers, ownerReferences: [OWNER], ...metadata },
  });
  await client.create(Secret, {
    metadata: { namespace: "shop", name: "data" },
    data: { value: Buffer.from("#cloud-config").toString("base64") },
  });
  const around: Record<string, unknown> = {
    Machine: "machine" in world ? world.machine : MACHINE,
    Cluster: world.cluster ?? CLUSTER,
    PacketCluster: "packetCluster" in world ? world.packetCluster : aPacketCluster({ metro: "da" }),
  };
  const events: string[] = [];
  const add = (level: string) => (_: unknown, reason: string) => void events.push(`${level} ${reason}`);
  const context = {
    ...{
      client,
      clock: { now: () => 1_000, monotonic: () => 1_000 },
      signal: new AbortController().signal,
      random: cryptoRandom,
    },
    ...{ clean: <T>(value: T): T => value, events: { normal: add("Normal"), warning: add("Warning") } },
    cache: {
      get: ({ kind }: { kind: string }) => (kind === "PacketMachine" ? api.objects.get(PATH) : around[kind]),
      byIndex: () => [],
    },
  } as unknown as Context;
  const calls: string[] = [];
  const orders: Order[] = [];
  const address = { id: "ip-1", address: "203.0.113.5", tags: [], metro: "da", assignments: [] };
  const driver = {
    ...{
      type: "equinix",
      capabilities: { userData: true },
      check: () => [],
      networkSettled: () => true,
      find: async () => [],
    },
    create: async (order: Order) => {
      orders.push(order);
      if (fails !== undefined) throw fails;
      return aMachine({ id: "new", phase: "building", providerState: "queued" });
    },
    tag: async (id: string, claim: string) => void calls.push(`tag ${id} ${claim.replace(/^uid-.*/, "uid")}`),
    elastic: {
      list: async () => [address],
      assign: async (_: unknown, machine: string) => void calls.push(`assign ${machine}`),
      openSession: async (machine: string) => void calls.push(`session ${machine}`),
    },
  };
  const look = async (id: string) => {
    calls.push(`look ${id}`);
    return sight;
  };
  const fleet = {
    driver,
    look,
    restMs: (leastMs: number) => leastMs,
    note: (seen: Machine) => seen,
    all: async () => all,
  };
  const refused: string[] = [];
  const packet = {
    accounts: { fleet: async () => fleet, refused: (name: string) => void refused.push(name) },
    ...{
      own: { namespace: "ns", secret: "own" },
      boots: new MachineBoots({ url: "https://b", store: {} as never }),
      patience: new Patience(),
      pollMs: 15_000,
    },
    bgp: { asn: 1, password: undefined },
  } as unknown as Packet;
  const controller = machineController(packet);
  const reconcile = () => controller.reconcile(REF, context).catch((error: unknown) => error);
  const object = async () => (await client.find(PacketMachine, REF))!;
  return { controller, calls, orders, events, refused, reconcile, object };
}
const ready = ({ status }: PacketMachine) => {
  const found = status?.conditions?.find(({ type }) => type === "Ready");
  return `${found?.status} ${found?.reason}`;
};
const BOUGHT = {
  instanceID: "m-1",
  account: { project: "project-1" },
  purchase: { attempt: 1, at: "1970-01-01T00:00:00.000Z", state: "Done" as const, placement: 0 },
};

test("A1 nothing is ordered before all is there, and nothing is asked of the provider", async () => {
  const cases: [World, string][] = [
    [{ machine: undefined }, "False WaitingForMachine"],
    [{ cluster: { ...CLUSTER, status: {} } }, "False WaitingForClusterInfrastructure"],
    [{ machine: { ...MACHINE, spec: { ...MACHINE.spec, bootstrap: {} } } }, "False WaitingForBootstrapData"],
    [{ packetCluster: undefined }, "False WaitingForPacketCluster"],
  ];
  for (const [world, shown] of cases) {
    const here = await stage(world);
    assert.deepEqual([await here.reconcile(), here.orders, here.calls], [DONE, [], []]);
    assert.equal(ready(await here.object()), shown);
  }
  const fresh = await stage({ metadata: { finalizers: [] } });
  await fresh.reconcile();
  assert.deepEqual([(await fresh.object()).metadata.finalizers, fresh.orders], [[MACHINE_FINALIZER], []]);
});

test("A3 a paused machine is left alone, on its way out too", async () => {
  for (const metadata of [{}, { deletionTimestamp: "x" }]) {
    const here = await stage({
      cluster: { ...CLUSTER, spec: { ...CLUSTER.spec, paused: true } },
      status: BOUGHT,
      metadata,
    });
    assert.deepEqual([await here.reconcile(), here.calls], [DONE, []]);
    const { status, metadata: after } = await here.object();
    assert.deepEqual(
      [status?.waitingFor, after.finalizers],
      ["the Cluster or the object to be unpaused", [MACHINE_FINALIZER]],
    );
  }
});

test("B35 a machine is ordered with its bootstrap data in its cluster's project, and written down", async () => {
  const here = await stage();
  assert.deepEqual(await here.reconcile(), { againAfterMs: 15_000 });
  const [order] = here.orders;
  assert.deepEqual(
    [order?.boot.userData, order?.projectId, order?.placement],
    ["#cloud-config", "project-1", { plan: "c3.small.x86", metro: "da" }],
  );
  const { status } = await here.object();
  assert.deepEqual(
    [status?.instanceID, status?.purchase?.state, status?.account, status?.provider],
    ["new", "Done", { project: "project-1" }, "equinix"],
  );
  assert.deepEqual([status?.instanceState, status?.placement], ["queued", { machineType: "p", metro: "sg" }]);
  assert.ok(here.events.includes("Normal Ordered"));
  assert.match(status?.waitingFor ?? "", /hand over the machine \(queued\)$/);
});

test("B47 a machine of a reservation says which one it took", async () => {
  const here = await stage({ spec: { hardwareReservationID: "r1" } });
  await here.reconcile();
  assert.equal((await here.object()).status?.placement?.reservation, "r1");
});

test("B34 no capacity is a refusal that waits; a fault without effect leaves no order behind", async () => {
  const full = await stage({ fails: new Fault("NoCapacity", "api", "sold out") });
  await full.reconcile();
  assert.equal((await full.object()).status?.purchase?.state, "Refused");
  assert.ok(full.events.includes("Warning NoCapacity"));
  const bad = await stage({ fails: new Fault("BadCredentials", "api", "401") });
  assert.ok(isFault(await bad.reconcile(), "BadCredentials"));
  assert.deepEqual([(await bad.object()).status?.purchase, bad.refused.length], [undefined, 1]);
});

test("B51 a machine of the original without a mark is found by its tags, marked, and not bought again", async () => {
  const tags = ["capp:cluster-id:c1", "capp:machine-uid:worker-1", "capp:namespace:shop", "x"];
  const theirs = aMachine({ id: "old", claim: undefined, tags });
  const here = await stage({ all: [theirs] });
  await here.reconcile();
  assert.deepEqual([here.orders, (await here.object()).status?.instanceID], [[], "old"]);
  for (const other of [
    { ...theirs, claim: "u" },
    { ...theirs, phase: "releasing" as const },
    { ...theirs, tags: tags.slice(1) },
    aMachine({ claim: undefined }),
  ]) {
    const none = await stage({ all: [other] });
    await none.reconcile();
    assert.equal(none.orders.length, 1);
  }
  const moved = await stage({ spec: { providerID: "equinixmetal://old" }, sight: theirs });
  await moved.reconcile();
  assert.deepEqual(moved.calls, ["look old", "tag old uid"]);
  const own = await stage({
    spec: { providerID: "equinixmetal://m-1" },
    status: BOUGHT,
    sight: aMachine({ claim: undefined }),
  });
  await own.reconcile();
  assert.deepEqual(own.calls, ["look m-1"]);
});

test("B2 a machine that is handed over is named, and ready in the next pass", async () => {
  const here = await stage({ status: BOUGHT });
  assert.deepEqual(await here.reconcile(), { againAfterMs: 0 });
  assert.equal((await here.object()).spec.providerID, "equinixmetal://m-1");
  await here.reconcile();
  assert.equal(ready(await here.object()), "True InstanceReady");
});

test("a machine that the provider does not know any more is a failure for good, in conditions", async () => {
  const here = await stage({ status: BOUGHT, sight: "gone" });
  await here.reconcile();
  const { status } = await here.object();
  assert.deepEqual([status?.failureReason, here.orders], ["MachineGone", []]);
  await here.reconcile();
  assert.equal(ready(await here.object()), "False InstanceNotFound");
  assert.deepEqual(here.orders, []);
});

test("CPEM and KUBE_VIP: a machine that runs sees to the address once, and that is written down", async () => {
  const named = { spec: { providerID: "equinixmetal://m-1" }, status: BOUGHT };
  const head = { ...MACHINE, metadata: { ...MACHINE.metadata, labels: { "cluster.x-k8s.io/control-plane": "" } } };
  const elastic = { elasticIP: { id: "ip-1", address: "203.0.113.5" } };
  const cpem = await stage({ ...named, machine: head, packetCluster: aPacketCluster({ metro: "da" }, elastic) });
  assert.deepEqual(await cpem.reconcile(), { againAfterMs: 0 });
  assert.deepEqual([cpem.calls, (await cpem.object()).status?.vip], [["look m-1", "assign m-1"], { address: true }]);
  await cpem.reconcile();
  assert.deepEqual(cpem.calls, ["look m-1", "assign m-1", "look m-1"]);
  const vip = await stage({
    ...named,
    packetCluster: aPacketCluster({ metro: "da", vipManager: "KUBE_VIP" }, elastic),
  });
  await vip.reconcile();
  assert.deepEqual([vip.calls, (await vip.object()).status?.vip], [["look m-1", "session m-1"], { session: true }]);
  const off = await stage({
    ...named,
    packetCluster: aPacketCluster({ metro: "da", vipManager: "KUBE_VIP" }, elastic),
    sight: aMachine({ phase: "building" }),
  });
  await off.reconcile();
  assert.deepEqual(off.calls, ["look m-1"]);
});

test("a Machine concerns the PacketMachine that it refers to, and a Cluster its machines by what they act upon", async () => {
  const { controller } = await stage();
  const of = (kind: string) =>
    controller.sources.find(({ resource }) => resource.kind === kind) as unknown as {
      when(now: object, before: object): boolean;
      keys(object: object, before?: object, cache?: object): unknown[];
    };
  assert.deepEqual(of("Machine").keys(MACHINE), [REF]);
  assert.deepEqual(of("Machine").keys({ ...MACHINE, spec: { infrastructureRef: { kind: "Other", name: "x" } } }), []);
  const cache = {
    byIndex: (_: unknown, index: string, key: string) =>
      index === "cluster" && key === "shop/c1" ? [aPacketMachine()] : [],
  };
  assert.deepEqual(of("Cluster").keys(CLUSTER, undefined, cache), [REF]);
  assert.deepEqual(
    of("PacketCluster").keys(
      aPacketCluster({}, undefined, { labels: { "cluster.x-k8s.io/cluster-name": "c1" } }),
      undefined,
      cache,
    ),
    [REF],
  );
  assert.deepEqual(of("PacketCluster").keys(aPacketCluster(), undefined, cache), []);
  assert.equal(of("Cluster").when(CLUSTER, structuredClone(CLUSTER)), false);
  for (const change of [
    { status: {} },
    { spec: { ...CLUSTER.spec, paused: true } },
    { spec: { ...CLUSTER.spec, controlPlaneEndpoint: {} } },
  ])
    assert.equal(of("Cluster").when({ ...CLUSTER, ...change }, CLUSTER), true);
});

test("its rights are those that it uses: what is kept beside objects is read, and boots are written in its own namespace alone", async () => {
  const { controller } = await stage();
  const rights = controller.access.map(
    ({ resource, verbs, subresource, namespace }) =>
      `${resource.kind}${subresource ? `/${subresource}` : ""} ${verbs.join()}${namespace ? ` in ${namespace}` : ""}`,
  );
  for (const right of [
    ...["PacketMachine get,update,patch", "PacketMachine/status get,update,patch", "MachineProvider get"],
    ...["Secret get", "Secret get,create,patch,delete in ns"],
  ])
    assert.ok(rights.includes(right), right);
});
