/** What a pool's controller does in one pass: whom it serves, what it tells whom, and when it comes again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Context, conditionOf, controllerReference, DONE, type KubeObject, type Resource } from "@slipway/kube";
import { failure } from "@slipway/kube/testing";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { InClusterIPPool } from "../../kinds/ipam/in-cluster-ip-pool.ts";
import { IPAddress } from "../../kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";
import { giveAddresses } from "./give-addresses.ts";
import { FINALIZERS } from "./names.ts";
import { poolController } from "./pool-controller.ts";
import { strays } from "./release.ts";
import { NAMESPACE, sortOf, stage } from "./testing.ts";

const SPEC = { addresses: ["10.0.0.1-10.0.0.2"], prefix: 24, gateway: "10.0.0.254" };

/** A pool with claims; `look` is one reconcile with a cache as the API is then. */
async function world(names: readonly string[], spec: object = SPEC) {
  const made = await stage(InClusterIPPool, spec, names);
  const { api, client, context } = made;
  const all = (plural: string) =>
    [...api.objects].filter(([key]) => key.includes(`/${plural}/`)).map(([, object]) => object);
  const cache = {
    get: (resource: Resource, { name }: { name: string }) =>
      all(resource.plural).find(({ metadata }) => metadata.name === name),
    byIndex: (resource: Resource) => all(resource.plural),
  };
  const controller = poolController(sortOf(InClusterIPPool));
  const look = () =>
    controller.reconcile({ namespace: NAMESPACE, name: "berths" }, { ...context, cache } as unknown as Context);
  const change = <T extends KubeObject>(resource: Resource<T>, name: string, body: object) =>
    client.patch(resource, { namespace: NAMESPACE, name }, { type: "merge", body });
  const ready = async (name: string) => {
    const { reason, message } = conditionOf((await made.find(name))?.status?.conditions, "Ready") ?? {};
    return `${reason}: ${message}`;
  };
  const pool = async () => (await client.find(InClusterIPPool, { namespace: NAMESPACE, name: "berths" }))!;
  const given = () => all("ipaddresses").map((each) => `${each.metadata.name} ${(each as IPAddress).spec.address}`);
  return { ...made, look, change, ready, pool, given };
}
const GOING = { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } };
const reasonOf = (pool: InClusterIPPool): string => {
  const { status, reason, message } = conditionOf(pool.status?.conditions, "Ready")!;
  return `${status} ${reason} ${message}`;
};

test("a pool with claims is kept by a finalizer, counts what it has, and gives prefix, gateway and the Cluster's name", async () => {
  const { client, look, change, given, pool, ready } = await world(["a", "b", "c"]);
  await client.create(Cluster, { metadata: { namespace: NAMESPACE, name: "fleet" }, spec: {} } as never);
  await change(IPAddressClaim, "a", { spec: { clusterName: "fleet" } });
  assert.deepEqual(await look(), DONE);
  assert.deepEqual(given(), ["a 10.0.0.1", "b 10.0.0.2"]);
  const { spec, metadata } = (await client.find(IPAddress, { namespace: NAMESPACE, name: "a" }))!;
  assert.deepEqual(spec, {
    ...{ claimRef: { name: "a" }, address: "10.0.0.1", prefix: 24, gateway: "10.0.0.254" },
    poolRef: { apiGroup: InClusterIPPool.group, kind: "InClusterIPPool", name: "berths" },
  });
  assert.deepEqual(metadata.labels, { "cluster.x-k8s.io/cluster-name": "fleet" });
  assert.deepEqual(
    metadata.ownerReferences?.map(({ kind, name, controller, blockOwnerDeletion }) => [
      ...[kind, name, controller, blockOwnerDeletion],
    ]),
    [
      ["IPAddressClaim", "a", true, true],
      ["InClusterIPPool", "berths", undefined, true],
    ],
  );
  const now = await pool();
  assert.deepEqual(now.metadata.finalizers, [FINALIZERS.pool]);
  assert.deepEqual(now.status?.ipAddresses, { total: 2, free: 0, used: 2, outOfRange: 0 });
  assert.equal(reasonOf(now), "True Ready ");
  assert.match(await ready("c"), /^PoolExhausted: /);
});

test("a pool without claims is counted, and kept by nothing", async () => {
  const { look, pool } = await world([]);
  assert.deepEqual(await look(), DONE);
  const now = await pool();
  assert.deepEqual([now.metadata.finalizers, now.status?.ipAddresses?.free], [undefined, 2]);
});

test("a claim of a Cluster that is yet to come is looked at again in a minute, and gets nothing meanwhile", async () => {
  const { look, change, given } = await world(["a"]);
  await change(IPAddressClaim, "a", { spec: { clusterName: "fleet" } });
  assert.deepEqual(await look(), { againAfterMs: 60_000 });
  assert.deepEqual(given(), []);
});

test("a claim that has its address and was not told so is told, and one that was told is left alone", async () => {
  const { api, look, change, ready } = await world(["a"]);
  await look();
  const before = (): number => api.requests.filter(({ method }) => method !== "GET").length;
  const writes = before();
  await look();
  assert.equal(before(), writes);
  await change(IPAddressClaim, "a", { status: null });
  await look();
  assert.equal(await ready("a"), "Ready: ");
});

test("a pool that is missing, or going, is said to the claims that wait; it goes once its addresses are given back", async () => {
  const { look, change, ready, pool, client, api } = await world(["a", "b"], { ...SPEC, addresses: ["10.0.0.1"] });
  await look();
  await change(InClusterIPPool, "berths", GOING);
  await look();
  assert.equal(await ready("a"), "Ready: ", "who has an address keeps it");
  assert.equal(await ready("b"), "PoolNotReady: InClusterIPPool berths is being deleted");
  const left = await pool();
  assert.equal(reasonOf(left), `False Deleting waits until 1 addresses are given back: ${NAMESPACE}/a`);
  assert.deepEqual(left.metadata.finalizers, [FINALIZERS.pool]);
  await client.delete(IPAddress, { namespace: NAMESPACE, name: "a" }, {});
  await look();
  assert.deepEqual((await pool()).metadata.finalizers ?? [], []);
  for (const key of api.objects.keys()) if (key.endsWith("/berths")) api.remove(key);
  await look();
  assert.equal(await ready("b"), "PoolNotReady: InClusterIPPool berths does not exist");
});

test("more claims than one pass serves are served by the next, and are not told that the pool is used up", async () => {
  const names = Array.from({ length: 501 }, (_, at) => `claim-${at}`);
  const many = await world(names, { addresses: ["10.0.0.0/16"], prefix: 16 });
  assert.deepEqual(await many.look(), { againAfterMs: 20 });
  assert.deepEqual([many.given().length, await many.ready("claim-500")], [500, "undefined: undefined"]);
  assert.deepEqual(await many.look(), DONE);
  assert.equal(many.given().length, 501);
  const few = await world(names);
  assert.deepEqual(await few.look(), DONE);
  assert.match(await few.ready("claim-500"), /^PoolExhausted: /, "those of the next pass are told, too");
});

test("an address that can't be written is said on its claim and fails the look; the others get theirs", async () => {
  const { api, look, ready, given } = await world(["a", "b"]);
  const serve = api.intercept;
  api.intercept = (request) => {
    const { name } = (request.body as KubeObject | undefined)?.metadata ?? {};
    if (request.method === "POST" && name === "a") return failure(403, "Forbidden", "not for you");
    return serve(request);
  };
  await assert.rejects(look() as Promise<unknown>, { code: "Forbidden" });
  assert.deepEqual(given(), ["b 10.0.0.2"]);
  assert.match(await ready("a"), /^AllocationFailed: .*not for you/);
});

test("an IPAddress of a claim's name that is not the claim's is left alone, and said", async () => {
  const { client, context, pool, claims, ready, given } = await world(["a"]);
  const foreign = { metadata: { namespace: NAMESPACE, name: "a" }, spec: { address: "192.0.2.1", poolRef: {} } };
  await client.create(IPAddress, foreign as never);
  await giveAddresses(context, { sort: sortOf(InClusterIPPool), pool: await pool(), claims });
  assert.match(await ready("a"), /^AllocationFailed: an IPAddress of the claim's name exists/);
  assert.deepEqual(given(), ["a 192.0.2.1"]);
});

test("the claim's own IPAddress that was written before is found again", async () => {
  const { client, context, pool, claims, ready } = await world(["a"]);
  const ownerReferences = [controllerReference(IPAddressClaim, claims[0]!)];
  const own = { metadata: { namespace: NAMESPACE, name: "a", ownerReferences } };
  await client.create(IPAddress, { ...own, spec: { address: "10.0.0.1", poolRef: {} } } as never);
  await giveAddresses(context, { sort: sortOf(InClusterIPPool), pool: await pool(), claims });
  assert.equal(await ready("a"), "Ready: ");
});

test("addresses of other pools count nothing, whatever their group, kind or name is", async () => {
  const { client, context, pool, claims } = await world(["a"]);
  const mine = { apiGroup: InClusterIPPool.group, kind: "InClusterIPPool", name: "berths" };
  const put = (name: string, poolRef: object, address: string) =>
    client.create(IPAddress, {
      metadata: { namespace: NAMESPACE, name },
      spec: { address, poolRef, claimRef: { name } },
    } as never);
  await put("mine", mine, "10.0.0.1");
  for (const [name, other] of Object.entries({ apiGroup: "x", kind: "x", name: "x" }).map(([key, value]) => [
    `of-another-${key.toLowerCase()}`,
    { ...mine, [key]: value },
  ]))
    await put(name as string, other as object, "10.0.0.2");
  const given = await giveAddresses(context, { sort: sortOf(InClusterIPPool), pool: await pool(), claims });
  assert.deepEqual(given.held.toSorted(), ["10.0.0.1", "10.0.0.2"]);
  assert.equal((await client.find(IPAddress, { namespace: NAMESPACE, name: "a" }))?.spec.address, "10.0.0.2");
});

test("an address is astray when its claim is gone, or when it is going itself; what a person wrote is not", () => {
  const claim = { metadata: { namespace: NAMESPACE, name: "a", uid: "u-1" } } as IPAddressClaim;
  const address = (name: string, uid: string | undefined, more: object = {}) =>
    ({
      metadata: {
        ...{ name, finalizers: [FINALIZERS.address], ...more },
        ...(uid !== undefined && { ownerReferences: [{ kind: "IPAddressClaim", name: "a", uid, controller: true }] }),
      },
    }) as unknown as IPAddress;
  const all = [
    address("of its claim", "u-1"),
    address("of a claim that is gone", "u-0"),
    address("without a finalizer", "u-0", { finalizers: ["other"] }),
    address("with none", "u-0", { finalizers: undefined }),
    address("a person's", undefined),
    address("a person's that goes", undefined, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    address("of its claim and going", "u-1", { deletionTimestamp: "2026-01-01T00:00:00Z" }),
  ];
  assert.deepEqual(
    strays(all, [claim]).map(({ metadata }) => metadata.name),
    ["of a claim that is gone", "a person's that goes"],
  );
});
