/** Addresses for machines, in virtual time: claims on all sorts of pools, what goes wrong, deaths, and two operators at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { type ApiRequest, conditionOf, type KubeObject, type Resource, refOf } from "@slipway/kube";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { GlobalInClusterIPPool, InClusterIPPool } from "../../src/kinds/ipam/in-cluster-ip-pool.ts";
import { IPAddress } from "../../src/kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../src/kinds/ipam/ip-address-claim.ts";
import { IPPool } from "../../src/kinds/ipam/ip-pool.ts";
import { numbers, sampled } from "./api.ts";
import { AddressWorld, NAMESPACE } from "./ipam-world.ts";
import type { Death } from "./mortal.ts";
import { ofTurn } from "./seeds-of-turn.ts";
import { MINUTE } from "./world.ts";

/** Fails where two IPAddresses of one pool are the same. */
function allDifferent(addresses: readonly IPAddress[]): void {
  const seen = addresses.map(({ spec }) => `${spec.poolRef.kind} ${spec.poolRef.name} ${spec.address}`);
  assert.deepEqual(seen.toSorted(), [...new Set(seen)].toSorted());
}

test("a claim gets the first free address of its pool, with prefix and gateway", async (t) => {
  const world = await AddressWorld.started(t);
  await world.operator();
  await world.pool(["10.0.0.0/28"], { prefix: 28, gateway: "10.0.0.1" });
  const read = () => world.whileTimePasses(world.client.get(InClusterIPPool, { namespace: NAMESPACE, name: "berths" }));
  await world.until("the pool is counted", async () => (await read()).status?.ipAddresses?.free === 13, MINUTE);
  const { finalizers, annotations } = (await read()).metadata;
  assert.deepEqual([finalizers, annotations], [undefined, undefined], "nothing keeps a pool that nobody uses");
  await world.claim("a");
  assert.equal(await world.addressOf("a"), "10.0.0.2");
  const [address] = await world.addresses();
  assert.deepEqual(
    { ...address!.spec, finalizers: address!.metadata.finalizers },
    {
      claimRef: { name: "a" },
      poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "berths" },
      ...{ address: "10.0.0.2", prefix: 28, gateway: "10.0.0.1" },
      finalizers: ["ipam.cluster.x-k8s.io/ProtectAddress"],
    },
  );
  const owners = address!.metadata.ownerReferences!.map(({ kind, name, controller, blockOwnerDeletion }) => ({
    kind,
    name,
    controller,
    blockOwnerDeletion,
  }));
  assert.deepEqual(owners, [
    { kind: "IPAddressClaim", name: "a", controller: true, blockOwnerDeletion: true },
    { kind: "InClusterIPPool", name: "berths", controller: undefined, blockOwnerDeletion: true },
  ]);
  assert.deepEqual((await read()).status!.ipAddresses, { total: 13, free: 12, used: 1, outOfRange: 0 });
  const events = (await world.events())
    .filter(({ involvedObject }) => involvedObject?.kind === "IPAddressClaim")
    .map(({ reason, message }) => `${reason}: ${message}`);
  assert.deepEqual(events, ["AddressAllocated: 10.0.0.2/28 of InClusterIPPool berths"]);

  await world.delete(IPAddressClaim, "a");
  await world.gone("a");
  assert.deepEqual(await world.addresses(), []);
  await world.until("the pool counts none in use", async () => (await read()).status!.ipAddresses!.used === 0, MINUTE);
  const troubles = world.logged.filter((line) => (JSON.parse(line) as { level: number }).level >= 40);
  assert.deepEqual(troubles, []);
});

test("200 claims at once get 200 addresses; what is given back goes to who waits", async (t) => {
  const world = await AddressWorld.started(t);
  await world.operator();
  await world.pool(["10.0.0.0/24"], { excludedAddresses: ["10.0.0.1-10.0.0.54"] });
  const names = Array.from({ length: 203 }, (_, i) => `c-${i}`);
  await Promise.all(names.map((name) => world.claim(name)));
  const ready = async () =>
    (await Promise.all(names.map((name) => world.find(name)))).filter(
      (claim) => claim?.status?.addressRef !== undefined,
    );
  await world.until("200 claims have their address", async () => (await ready()).length === 200, 10 * MINUTE);
  allDifferent(await world.addresses());
  const without = (await Promise.all(names.map((name) => world.find(name)))).filter(
    (claim) => claim!.status?.addressRef === undefined,
  );
  assert.equal(without.length, 3);
  for (const { metadata } of without as IPAddressClaim[])
    assert.match(await world.stands(metadata.name, "False", "PoolExhausted"), /berths has no free address/);
  const going = (await ready()).slice(0, 2).map((claim) => claim!.metadata.name);
  for (const name of going) await world.delete(IPAddressClaim, name);
  await world.until(
    "two of those that wait have theirs",
    async () => (await world.addresses()).length === 200 && (await ready()).length === 200,
    10 * MINUTE,
  );
  allDifferent(await world.addresses());
});

test("more claims than one pass serves get their addresses all the same, and what is promised stays small", async (t) => {
  const world = await AddressWorld.started(t);
  await world.pool(["10.0.0.0/21"], { prefix: 21 });
  await Promise.all(Array.from({ length: 1_200 }, (_, i) => world.claim(`c-${i}`)));
  await world.operator();
  await world.until("1200 addresses", async () => (await world.addresses()).length === 1_200, 10 * MINUTE);
  allDifferent(await world.addresses());
  const ref = { namespace: NAMESPACE, name: "berths" };
  const { metadata } = await world.whileTimePasses(world.client.get(InClusterIPPool, ref));
  assert.ok(metadata.annotations!["slipway.dev/promised-addresses"]!.length < 30_000);
});

test("a pool whose promises are damaged says so, and goes on once the annotation is taken off", async (t) => {
  const world = await AddressWorld.started(t);
  await world.operator();
  await world.pool(["10.0.0.1-10.0.0.9"]);
  const ref = { namespace: NAMESPACE, name: "berths" };
  const annotate = (text: string | null) =>
    world.whileTimePasses(
      world.client.patch(InClusterIPPool, ref, {
        type: "merge",
        body: { metadata: { annotations: { "slipway.dev/promised-addresses": text } } },
      }),
    );
  await annotate("{");
  await world.claim("a");
  assert.match(await world.stands("a", "False", "PoolNotReady"), /promised-addresses.* no JSON; remove it/);
  await annotate(null);
  await world.until("the claim has its address", async () => (await world.addresses()).length === 1, 20_000, 1_000);
});

test("a pool of the cluster serves claims of all namespaces, each address once", async (t) => {
  const world = await AddressWorld.started(t);
  await world.operator();
  await world.whileTimePasses(
    world.client.create(GlobalInClusterIPPool, {
      metadata: { name: "sea" },
      spec: { addresses: ["fd00::/64"], prefix: 64 },
    }),
  );
  for (const namespace of ["default", "kube-system"])
    await world.claim("same", { namespace, kind: GlobalInClusterIPPool, pool: "sea" });
  const got = [await world.addressOf("same", "default"), await world.addressOf("same", "kube-system")];
  assert.deepEqual(got.toSorted(), ["fd00::1", "fd00::2"]);
});

test("VINO-11: a claim on ViNO's pool is noted there with a MAC address, and taken off when it goes", async (t) => {
  const world = await AddressWorld.started(t);
  await world.operator();
  const spec = {
    subnet: "10.0.0.0/16",
    ranges: [{ start: "10.0.0.1", stop: "10.0.0.2" }],
    allocatedIPs: [{ allocatedTo: "vino-worker-0", ip: "10.0.0.1", mac: "02:00:00:00:00:00" }],
    ...{ macPrefix: "02:00:00:00:00:00", nextMAC: "02:00:00:00:00:01" },
  };
  const ref = { namespace: NAMESPACE, name: "ippool-10-0-0-0-16" };
  await world.whileTimePasses(world.client.create(IPPool, { metadata: ref, spec }));
  await world.claim("a", { kind: IPPool, pool: ref.name });
  assert.equal(await world.addressOf("a"), "10.0.0.2");
  const read = () => world.whileTimePasses(world.client.get(IPPool, ref));
  assert.deepEqual((await read()).spec.allocatedIPs.at(-1), {
    allocatedTo: "IPAddressClaim/default/a",
    ip: "10.0.0.2",
    mac: "02:00:00:00:00:01",
  });
  await world.claim("b", { kind: IPPool, pool: ref.name });
  await world.stands("b", "False", "PoolExhausted");
  await world.delete(IPAddressClaim, "a");
  assert.equal(await world.addressOf("b"), "10.0.0.2");
  await world.delete(IPAddressClaim, "b");
  await world.gone("b");
  assert.deepEqual((await read()).spec.allocatedIPs, spec.allocatedIPs);
});

test("VINO-3 VINO-11: two of ViNO's pools of one macPrefix, asked at once, give no MAC address twice, whatever namespaces they are in", async (t) => {
  const world = await AddressWorld.started(t);
  const macPrefix = "52:54:00:00:00:00";
  const pools = [NAMESPACE, "kube-public"].map((namespace, at) => ({
    namespace,
    name: `pool-${at}`,
    net: `10.${at}.0`,
  }));
  for (const { namespace, name, net } of pools)
    await world.whileTimePasses(
      world.client.create(IPPool, {
        metadata: { namespace, name },
        spec: {
          ...{ subnet: `${net}.0/24`, ranges: [{ start: `${net}.10`, stop: `${net}.99` }] },
          ...{ allocatedIPs: [], macPrefix, nextMAC: macPrefix },
        },
      }),
    );
  await world.operator();
  await Promise.all(
    pools.flatMap(({ namespace, name: pool }) =>
      numbers(1, 20).map((n) => world.claim(`claim-${n}`, { namespace, pool, kind: IPPool as Resource<KubeObject> })),
    ),
  );
  await world.until("all have addresses", async () => (await world.addresses()).length === 40);
  const { items } = await world.whileTimePasses(world.client.list(IPPool));
  const macs = items.flatMap(({ spec }) => spec.allocatedIPs.map(({ mac }) => mac));
  assert.equal(macs.length, 40);
  assert.deepEqual(macs.toSorted(), [...new Set(macs)].toSorted());
});

test("a pool that is missing, wrong or going is said on the claim, and heals without a restart", async (t) => {
  const world = await AddressWorld.started(t);
  await world.operator();
  await world.claim("a");
  assert.match(await world.stands("a", "False", "PoolNotReady"), /InClusterIPPool berths does not exist/);
  await world.pool(["10.0.0.9-10.0.0.1"]);
  await world.until(
    "the pool is looked at",
    async () => /ends before/.test(await world.stands("a", "False", "PoolNotReady")),
    10 * MINUTE,
  );
  const ref = { namespace: NAMESPACE, name: "berths" };
  const pool = await world.whileTimePasses(world.client.get(InClusterIPPool, ref));
  assert.match(conditionOf(pool.status!.conditions, "Ready")!.message, /spec.addresses\[0\].*ends before it begins/);
  const body = { spec: { addresses: ["10.0.0.1-10.0.0.9"] } };
  await world.whileTimePasses(world.client.patch(InClusterIPPool, ref, { type: "merge", body }));
  assert.equal(await world.addressOf("a"), "10.0.0.1");

  await world.delete(InClusterIPPool, "berths");
  await world.claim("b");
  assert.match(await world.stands("b", "False", "PoolNotReady"), /is being deleted/);
  const going = await world.whileTimePasses(world.client.get(InClusterIPPool, ref));
  assert.match(
    conditionOf(going.status!.conditions, "Ready")!.message,
    /waits until 1 addresses are given back: default\/a/,
  );
  await world.delete(IPAddressClaim, "a");
  await world.until(
    "the pool is gone",
    async () => (await world.whileTimePasses(world.client.find(InClusterIPPool, ref))) === undefined,
    10 * MINUTE,
  );
  assert.match(await world.stands("b", "False", "PoolNotReady"), /does not exist/);
});

test("a foreign IPAddress of the claim's name is left alone, and said", async (t) => {
  const world = await AddressWorld.started(t);
  await world.operator();
  await world.pool(["10.0.0.1-10.0.0.9"]);
  const poolRef = { apiGroup: "other.example", kind: "Pool", name: "p" };
  await world.whileTimePasses(
    world.client.create(IPAddress, {
      metadata: { namespace: NAMESPACE, name: "a" },
      spec: { claimRef: { name: "a" }, poolRef, address: "10.9.9.9", prefix: 24 },
    }),
  );
  await world.claim("a");
  assert.match(await world.stands("a", "False", "AllocationFailed"), /is not the claim's/);
  // The address that it was promised waits for it.
  await world.claim("b");
  assert.equal(await world.addressOf("b"), "10.0.0.2");
  await world.delete(IPAddress, "a");
  assert.equal(await world.addressOf("a"), "10.0.0.1");
});

test("an address that can't be written is said on its claim, keeps no other claim waiting, and is tried again", async (t) => {
  let refuses = true;
  const answer = {
    status: 403,
    headers: {},
    body: { kind: "Status", reason: "Forbidden", message: "a webhook says no" },
  };
  const isRefused = ({ method, path, body }: ApiRequest): boolean =>
    refuses && method === "POST" && path.endsWith("/ipaddresses") && (body as KubeObject).metadata.name === "a";
  const world = await AddressWorld.started(t, (inner) => ({
    request: async (of) => (isRefused(of) ? answer : await inner.request(of)),
    watch: (of) => inner.watch(of),
    close: () => inner.close(),
  }));
  await world.operator();
  await world.pool(["10.0.0.1-10.0.0.9"]);
  await world.claim("a");
  assert.match(await world.stands("a", "False", "AllocationFailed"), /a webhook says no/);
  await world.claim("b");
  assert.equal(await world.addressOf("b"), "10.0.0.2");
  refuses = false;
  assert.equal(await world.addressOf("a"), "10.0.0.1");
});

for (const kind of [InClusterIPPool, IPPool])
  test(`an address whose claim was let go before it was written is taken back; one that a person wrote stays: ${kind.kind}`, async (t) => {
    const world = await AddressWorld.started(t);
    await world.operator();
    const ref = { namespace: NAMESPACE, name: "berths" };
    const ip = { allocatedTo: "IPAddressClaim/default/late", ip: "10.0.0.1", mac: "02:00:00:00:00:00" };
    const spec = {
      ...{ subnet: "10.0.0.0/24", ranges: [{ start: "10.0.0.1", stop: "10.0.0.9" }], allocatedIPs: [ip] },
      ...{ macPrefix: "02:00:00:00:00:00", nextMAC: "02:00:00:00:00:01" },
    };
    if (kind === IPPool) await world.whileTimePasses(world.client.create(IPPool, { metadata: ref, spec }));
    else await world.pool(["10.0.0.1-10.0.0.9"]);
    const owner = {
      apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
      kind: "IPAddressClaim",
      uid: "0e0f0000-0000-4000-8000-000000000001",
    };
    const write = (name: string, address: string, more: object) =>
      world.whileTimePasses(
        world.client.create(IPAddress, {
          metadata: { namespace: NAMESPACE, name, finalizers: ["ipam.cluster.x-k8s.io/ProtectAddress"], ...more },
          spec: {
            claimRef: { name },
            poolRef: { apiGroup: kind.group, kind: kind.kind, name: "berths" },
            address,
            prefix: 24,
          },
        }),
      );
    await write("late", "10.0.0.1", { ownerReferences: [{ ...owner, name: "late", controller: true }] });
    await write("mine", "10.0.0.5", {});
    const names = async () => (await world.addresses()).map(({ metadata }) => metadata.name);
    await world.until("the late address is gone", async () => !(await names()).includes("late"), MINUTE);
    await world.clock.run(MINUTE);
    assert.deepEqual(await names(), ["mine"]);
    if (kind === IPPool)
      assert.deepEqual((await world.whileTimePasses(world.client.get(IPPool, ref))).spec.allocatedIPs, []);
    await world.delete(IPAddress, "mine");
    await world.until("the other, too, once it is deleted", async () => (await names()).length === 0, MINUTE);
  });

test("a claim that comes before its Cluster is served as soon as that is there", async (t) => {
  const world = await AddressWorld.started(t);
  await world.operator();
  await world.pool(["10.0.0.1-10.0.0.9"]);
  await world.claim("early", { clusterName: "quay" });
  // Just after a look, long before the next.
  await world.clock.run(2 * MINUTE + 1_000);
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "PacketCluster", name: "quay" };
  const cluster = { metadata: { namespace: NAMESPACE, name: "quay" }, spec: { infrastructureRef } };
  await world.whileTimePasses(world.client.create(Cluster, cluster as Cluster));
  await world.until("the claim has its address", async () => (await world.addresses()).length === 1, 20_000, 1_000);
});

test("nothing is done for a paused Cluster; a Cluster that is gone keeps no claim from going", async (t) => {
  const world = await AddressWorld.started(t);
  await world.operator();
  await world.pool(["10.0.0.1-10.0.0.9"]);
  await world.claim("early", { clusterName: "quay" });
  await world.clock.run(5 * MINUTE);
  assert.equal((await world.find("early"))!.status?.addressRef, undefined);
  const ref = { namespace: NAMESPACE, name: "quay" };
  const spec = {
    paused: true,
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "PacketCluster", name: "quay" },
  };
  await world.whileTimePasses(world.client.create(Cluster, { metadata: ref, spec } as Cluster));
  await world.clock.run(5 * MINUTE);
  assert.deepEqual(await world.addresses(), []);
  const pause = (paused: boolean) =>
    world.whileTimePasses(world.client.patch(Cluster, ref, { type: "merge", body: { spec: { paused } } }));
  await pause(false);
  assert.equal(await world.addressOf("early"), "10.0.0.1");
  await pause(true);
  await world.delete(IPAddressClaim, "early");
  await world.clock.run(5 * MINUTE);
  assert.equal((await world.addresses()).length, 1);
  await world.delete(Cluster, "quay");
  await world.gone("early");
  assert.deepEqual(await world.addresses(), []);
});

/** Two claims, one of which goes while a third comes. The operator may die at an effect; another takes over. */
async function lifeWithDeath(death?: Death): Promise<{ effects: number }> {
  const world = await AddressWorld.created();
  try {
    return await lived(world, death);
  } finally {
    // On a real API the next life would meet its operator.
    await world.close();
  }
}

async function lived(world: AddressWorld, death?: Death): Promise<{ effects: number }> {
  const { mortal } = await world.operator(death && { death });
  await world.pool(["10.0.0.1-10.0.0.3"]);
  for (const name of ["a", "b"]) await world.claim(name);
  await world.clock.run(MINUTE);
  await world.delete(IPAddressClaim, "a");
  await world.claim("c");
  await world.clock.run(MINUTE);
  world.kill();
  await world.operator();
  for (const name of ["b", "c"]) await world.addressOf(name);
  await world.gone("a");
  const addresses = await world.addresses();
  allDifferent(addresses);
  assert.equal(addresses.length, 2, `after death at effect ${death?.atEffect}`);
  return mortal;
}

for (const when of ["before", "after"] as const)
  test(`killed ${when} any effect, no address is given twice and none is left behind`, async () => {
    const { effects } = await lifeWithDeath();
    assert.ok(effects > 10, `only ${effects} effects`);
    for (const atEffect of ofTurn(sampled(numbers(1, effects)), process.env)) await lifeWithDeath({ atEffect, when });
  });

test("two operators at once, without an election, give no address twice", async (t) => {
  const world = await AddressWorld.started(t);
  await world.operator();
  await world.operator();
  await world.pool(["10.0.0.0/24"]);
  for (let round = 0; round < 5; round++) {
    const names = Array.from({ length: 20 }, (_, i) => `c-${round}-${i}`);
    await Promise.all(names.map((name) => world.claim(name)));
    if (round > 0)
      await Promise.all(names.slice(0, 10).map((_, i) => world.delete(IPAddressClaim, `c-${round - 1}-${i}`)));
    for (const name of names) await world.addressOf(name);
    const addresses = await world.addresses();
    allDifferent(addresses);
  }
  await world.until("what was deleted is gone", async () => (await world.addresses()).length === 60, 10 * MINUTE);
});

test("a claim and a pool that can't be are refused when they are written", async (t) => {
  const world = await AddressWorld.started(t);
  await assert.rejects(world.pool([]), (error) => isFault(error, "Invalid") && /spec.addresses/.test(error.message));
  const claim = await world.claim("a");
  const body = { spec: { poolRef: { name: "other" } } };
  await assert.rejects(
    world.whileTimePasses(world.client.patch(IPAddressClaim, refOf(claim), { type: "merge", body })),
    (error) => isFault(error, "Invalid") && /immutable/.test(error.message),
  );
  const address = (address: string, prefix: number) => ({
    metadata: { namespace: NAMESPACE, name: "x" },
    spec: { claimRef: { name: "x" }, poolRef: claim.spec.poolRef, address, prefix },
  });
  for (const [wrong, told] of [
    [address("10.0.0.300", 24), /no IP address/],
    [address("10.0.0.3", 64), /at most 32/],
  ] as const)
    await assert.rejects(
      world.whileTimePasses(world.client.create(IPAddress, wrong)),
      (error) => isFault(error, "Invalid") && told.test(error.message),
    );
});

test("VINO-11: ranges of ViNO's pool that overlap, or lie outside of its subnet, are said on the claim, which is served once they are mended", async (t) => {
  const world = await AddressWorld.started(t);
  await world.operator();
  const ref = { namespace: NAMESPACE, name: "ippool-10-0-0-0-24" };
  const mac = "02:00:00:00:00:00";
  const [first, overlapping] = [
    { start: "10.0.0.1", stop: "10.0.0.9" },
    { start: "10.0.0.9", stop: "10.0.0.20" },
  ];
  const spec = { subnet: "10.0.0.0/24", allocatedIPs: [], macPrefix: mac, nextMAC: mac, ranges: [first, overlapping] };
  await world.whileTimePasses(world.client.create(IPPool, { metadata: ref, spec }));
  await world.claim("a", { kind: IPPool, pool: ref.name });
  assert.match(await world.stands("a", "False", "PoolNotReady"), /spec\.ranges\[1\]: it overlaps spec\.ranges\[0\]/);
  const mend = (ranges: object[]) =>
    world.whileTimePasses(world.client.patch(IPPool, ref, { type: "merge", body: { spec: { ranges } } }));
  await mend([first, { start: "10.0.1.0", stop: "10.0.1.9" }]);
  await world.until(
    "the range is named",
    async () =>
      /spec\.ranges\[1\]: 10\.0\.1\.0-10\.0\.1\.9 is not within/.test(await world.stands("a", "False", "PoolNotReady")),
    10 * MINUTE,
  );
  await mend([first]);
  assert.equal(await world.addressOf("a"), "10.0.0.1");
});
