import assert from "node:assert/strict";
import { test } from "node:test";
import { type Condition, type Context, conditionOf, type KubeObject, type Resource } from "@slipway/kube";
import { GlobalInClusterIPPool, InClusterIPPool } from "../../kinds/ipam/in-cluster-ip-pool.ts";
import { IPAddress } from "../../kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";
import { IPPool } from "../../kinds/ipam/ip-pool.ts";
import { parseMac } from "./allocator/mac.ts";
import { giveAddresses } from "./give-addresses.ts";
import { FINALIZERS, PROMISED } from "./names.ts";
import { poolController } from "./pool-controller.ts";
import { POOL_SORTS } from "./pool-sorts.ts";
import { release } from "./release.ts";
import { NAMESPACE, sortOf, stage } from "./testing.ts";

const VINOS: IPPool["spec"] = {
  ...{ subnet: "10.0.0.0/16", ranges: [{ start: "10.0.1.0", stop: "10.0.1.9" }] },
  ...{ macPrefix: "02:00:00:00:00:00", nextMAC: "02:00:00:00:00:02" },
  allocatedIPs: [
    { allocatedTo: "IPAddressClaim/quay/a", ip: "10.0.1.0", mac: "02:00:00:00:00:00" },
    { allocatedTo: "IPAddressClaim/quay/b", ip: "10.0.1.1", mac: "02:00:00:00:00:01" },
  ],
};

test("VINO-11 a claim that goes is taken off ViNO's pool under its version, and is let go after that", async () => {
  const { client, context, pool, claims, finalizers } = await stage(IPPool, VINOS, ["a"]);
  const left = await release(context, { sort: sortOf(IPPool), pool, claims, strays: [] });
  const held = (await client.find(IPPool, { namespace: NAMESPACE, name: "berths" }))!;
  assert.deepEqual(
    held.spec.allocatedIPs.map(({ ip }) => ip),
    ["10.0.1.1"],
  );
  assert.equal(left?.metadata.resourceVersion, held.metadata.resourceVersion);
  assert.deepEqual(await finalizers("a"), []);
  const late = await stage(IPPool, VINOS, ["a"]);
  const old = { ...late.pool, metadata: { ...late.pool.metadata, resourceVersion: "1" } };
  const releasing = release(late.context, { sort: sortOf(IPPool), pool: old, claims: late.claims, strays: [] });
  await assert.rejects(releasing, { code: "Conflict" });
  assert.deepEqual(await late.finalizers("a"), [FINALIZERS.claim], "its address may still be on the pool");
});

test("VINO-11 an address without a claim is taken back, and off the pool unless a claim of its name has it now", async () => {
  for (const isThere of [false, true]) {
    const { client, context, pool } = await stage(IPPool, VINOS, isThere ? ["a"] : []);
    const metadata = { namespace: NAMESPACE, name: "a", finalizers: [FINALIZERS.address] };
    const stray = await client.create(IPAddress, { metadata, spec: { address: "10.0.1.0" } } as never);
    await release(context, { sort: sortOf(IPPool), pool, claims: [], strays: [stray] });
    assert.equal(await client.find(IPAddress, { namespace: NAMESPACE, name: "a" }), undefined);
    const held = (await client.find(IPPool, { namespace: NAMESPACE, name: "berths" }))!;
    assert.equal(held.spec.allocatedIPs.length, isThere ? 2 : 1);
  }
});

test("where nothing goes the pool is as it was, and nothing is asked of the API", async () => {
  const { api, context, pool } = await stage(IPPool, VINOS, []);
  const before = api.requests.length;
  assert.equal(await release(context, { sort: sortOf(IPPool), pool, claims: [], strays: [] }), pool);
  assert.equal(api.requests.length, before);
});

test("a claim gets its IPAddress, and is told; claims beyond what a pool has are told that it is used up, by its name", async () => {
  const spec = { addresses: ["10.0.0.1"], prefix: 24 };
  const { client, context, pool, claims, find } = await stage(InClusterIPPool, spec, ["a", "b", "c"]);
  const given = await giveAddresses(context, { sort: sortOf(InClusterIPPool), pool, claims });
  assert.deepEqual([given.held, given.isOver], [["10.0.0.1"], true]);
  const { spec: made, metadata } = (await client.find(IPAddress, { namespace: NAMESPACE, name: "a" }))!;
  assert.deepEqual([made.address, metadata.finalizers], ["10.0.0.1", [FINALIZERS.address]]);
  const served = (await find("a"))!.status;
  assert.deepEqual([conditionOf(served?.conditions, "Ready")?.status, served?.addressRef], ["True", { name: "a" }]);
  for (const name of ["b", "c"]) {
    const ready = conditionOf((await find(name))?.status?.conditions, "Ready");
    assert.deepEqual([ready?.status, ready?.reason], ["False", "PoolExhausted"], name);
    assert.match(ready!.message!, /^InClusterIPPool berths has no free address/);
  }
});

test("a pool's controller has the rights that it uses", () => {
  for (const sort of POOL_SORTS) {
    const rights = poolController(sort).access.map(
      ({ resource, verbs, subresource }) => `${resource.kind}${subresource ? `/${subresource}` : ""} ${verbs.join()}`,
    );
    const { kind } = sort.resource;
    assert.deepEqual(rights, [
      ...[`${kind} get,patch`, ...(sort.withoutClashes ? [`${kind} list`] : []), `${kind}/status update`],
      ...["IPAddressClaim get,patch", "IPAddressClaim/status update", "IPAddress get,create,patch,delete"],
    ]);
  }
});

test("a claim and an address wake the pool that they name, in their namespace where that has one, and no other", () => {
  const [inCluster, ofCluster] = [InClusterIPPool, GlobalInClusterIPPool].map((resource) => {
    const { sources } = poolController(sortOf(resource));
    return sources.find((each) => each.resource.kind === IPAddressClaim.kind)!;
  });
  const claim = (kind: string, apiGroup = InClusterIPPool.group) =>
    ({
      metadata: { namespace: NAMESPACE, name: "a" },
      spec: { poolRef: { apiGroup, kind, name: "berths" }, clusterName: "fleet" },
    }) as unknown as IPAddressClaim;
  const woken = (of: typeof inCluster, ...claimed: Parameters<typeof claim>) =>
    of!.keys!(claim(...claimed), undefined, undefined as never);
  assert.deepEqual(woken(inCluster, "InClusterIPPool"), [{ namespace: NAMESPACE, name: "berths" }]);
  assert.deepEqual(woken(ofCluster, "GlobalInClusterIPPool"), [{ name: "berths" }]);
  assert.deepEqual(woken(ofCluster, "InClusterIPPool"), []);
  assert.deepEqual(woken(inCluster, "InClusterIPPool", "other.example.org"), []);
  const indexed = Object.entries(inCluster!.indexes!).map(([name, by]) => [name, by(claim("InClusterIPPool"))]);
  assert.deepEqual(indexed, [
    ["pool:InClusterIPPool", [`${NAMESPACE}/berths`]],
    ["cluster", [`${NAMESPACE}/fleet`]],
  ]);
});

test("a claim is looked at anew when its specification, finalizers, deletion or pause change, not when its status does", () => {
  const { sources } = poolController(sortOf(InClusterIPPool));
  const claims = sources.find((each) => each.resource.kind === IPAddressClaim.kind)!;
  const claim = (metadata: object, more: object = {}) => ({
    metadata: { name: "a", generation: 1, ...metadata },
    ...more,
  });
  const is = (metadata: object, more?: object) => claims.when!(claim(metadata, more) as never, claim({}) as never);
  assert.deepEqual(
    [
      is({}, { status: { conditions: [] } }),
      is({ resourceVersion: "2", annotations: { other: "x" } }),
      is({ generation: 2 }),
      is({ finalizers: ["x"] }),
      is({ deletionTimestamp: "now" }),
      is({ annotations: { "cluster.x-k8s.io/paused": "" } }),
    ],
    [false, false, true, true, true, true],
  );
  const pools = sources.find((each) => each.resource.kind === InClusterIPPool.kind)!;
  const pool = (annotations: object) => ({ metadata: { name: "berths", generation: 1, annotations } }) as never;
  const promising = pool({ [PROMISED]: "{" });
  assert.deepEqual([pools.when!(pool({}), promising), pools.when!(promising, pool({}))], [true, false]);
});

test("VINO-3 a promise whose MAC address another pool gives is taken back; others stay", () => {
  const pool = { metadata: { namespace: NAMESPACE, name: "berths" }, spec: VINOS } as IPPool;
  const better = (taken: readonly string[]) =>
    sortOf(IPPool).withoutClashes!(pool, ["quay/a", "quay/b"], new Set(taken.map((mac) => parseMac(mac, "mac"))));
  assert.equal(better(["02:00:00:00:00:09"]), undefined);
  const { spec } = better(["02:00:00:00:00:00"]) as IPPool;
  assert.deepEqual(
    spec.allocatedIPs.map(({ ip }) => ip),
    ["10.0.1.1"],
  );
});

test("a pool that can't be is said on itself and on its claims, by its field, and gives nothing", async () => {
  const twice = { ...VINOS, allocatedIPs: [VINOS.allocatedIPs[0]!, { ...VINOS.allocatedIPs[1]!, ip: "10.0.1.0" }] };
  for (const [resource, spec, field] of [
    [InClusterIPPool, { addresses: ["10.0.0.9-10.0.0.1"], prefix: 24 }, /addresses\[0\].* ends before it begins/],
    [IPPool, twice, /spec\.allocatedIPs\[1\]/],
  ] as const) {
    const { api, client, context, pool, find } = await stage(resource as Resource<KubeObject>, spec, ["a"]);
    const claims = [(await find("a"))!];
    const cache = {
      get: ({ kind }: Resource) => (kind === resource.kind ? pool : undefined),
      byIndex: ({ kind }: Resource) => (kind === IPAddressClaim.kind ? claims : []),
    };
    const controller = poolController(sortOf(resource));
    await controller.reconcile({ namespace: NAMESPACE, name: "berths" }, { ...context, cache } as unknown as Context);
    const { status } = (await client.find(resource as Resource<KubeObject>, pool.metadata as never)) as {
      status?: { conditions?: Condition[] };
    };
    const ready = conditionOf(status?.conditions, "Ready");
    assert.deepEqual([ready?.status, ready?.reason], ["False", "InvalidPool"]);
    assert.match(ready!.message!, field);
    const told = conditionOf((await find("a"))?.status?.conditions, "Ready");
    assert.equal(told?.reason, "PoolNotReady");
    assert.match(told!.message!, field);
    assert.ok(![...api.objects.keys()].some((key) => key.includes("/ipaddresses/")));
  }
});
