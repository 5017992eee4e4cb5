/** HostClaims: hosts for those who may not touch the hosts themselves. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Namespace, Secret } from "@slipway/kube/core";
import { HostClaim } from "../../src/kinds/metal3/host-claim.ts";
import { HostDeployPolicy } from "../../src/kinds/metal3/host-deploy-policy.ts";
import { ensureNamespace } from "../../src/systems/netboot/led-netboot.ts";
import { IMAGE, InventoryWorld, MINUTE, RACK } from "./inventory-world.ts";

async function rackWith(t: TestContext, ...names: string[]): Promise<InventoryWorld> {
  const world = await InventoryWorld.create();
  t.after(() => world.close());
  for (const name of names) world.rack(name);
  await world.start();
  for (const name of names) await world.declare(name);
  return world;
}

async function claim(world: InventoryWorld, name: string, namespace: string, spec: object = {}): Promise<void> {
  const wanted = { poweredOn: true, image: IMAGE, ...spec };
  await world.whileTimePasses(world.client.create(HostClaim, { metadata: { name, namespace }, spec: wanted }));
}

const claimed = (world: InventoryWorld, name: string, namespace = RACK) =>
  world.whileTimePasses(world.client.find(HostClaim, { name, namespace }));

const ready = (found: HostClaim | undefined) => found?.status?.conditions?.find(({ type }) => type === "Ready");

test("a claim gets a host of its own, which installs what it says; a host for each, and for the last none until one is free", async (t) => {
  const world = await rackWith(t, "node-1", "node-2");
  for (const name of ["a", "b", "c"]) await claim(world, name, RACK);
  await world.until("two are ready", async () => {
    const all = await Promise.all(["a", "b", "c"].map((name) => claimed(world, name)));
    return all.filter((each) => ready(each)?.status === "True").length === 2;
  });
  const all = await Promise.all(["a", "b", "c"].map((name) => claimed(world, name)));
  const [waiting] = all.filter((each) => ready(each)?.status !== "True");
  assert.equal(ready(waiting)?.reason, "NoCapacity");
  // What stands in the way is counted once a minute.
  const why = async () => ready(await claimed(world, waiting!.metadata.name))?.message ?? "";
  await world.until("it says why", async () => /of 2 hosts: 2 in use/.test(await why()), 2 * MINUTE);
  const given = all.filter((each) => each !== waiting);
  assert.equal(new Set(given.map((each) => each?.status?.bareMetalHost?.name)).size, 2);
  for (const server of world.servers.values())
    await world.until("it runs", () => server.running?.is === "system" && server.running.image === IMAGE.url);

  const [first] = given;
  await world.whileTimePasses(world.client.delete(HostClaim, { name: first!.metadata.name, namespace: RACK }));
  await world.until(
    "the last one has its host",
    async () => ready(await claimed(world, waiting!.metadata.name))?.status === "True",
  );
  assert.equal(await claimed(world, first!.metadata.name), undefined);
});

test("hosts of another namespace are had where its policy says so, and never with Secrets of that namespace", async (t) => {
  const world = await rackWith(t, "node-1");
  await world.whileTimePasses(ensureNamespace(world.client, "tenant", new AbortController().signal));
  await claim(world, "a", "tenant");
  await world.until("it is refused", async () => ready(await claimed(world, "a", "tenant"))?.reason === "NoCapacity");
  assert.match(ready(await claimed(world, "a", "tenant"))?.message ?? "", /1 in another namespace/);
  const spec = { hostClaimNamespaces: { names: ["tenant"] } };
  await world.whileTimePasses(
    world.client.create(HostDeployPolicy, { metadata: { name: "tenants", namespace: RACK }, spec }),
  );
  await world.until("it is ready", async () => ready(await claimed(world, "a", "tenant"))?.status === "True");
  await world.whileTimePasses(world.client.delete(HostClaim, { name: "a", namespace: "tenant" }));
  await world.reaches("node-1", "available");
  await world.until("it is free", async () => (await world.host("node-1"))?.spec.consumerRef === undefined);

  const stringData = { value: "what the administrators keep" };
  await world.whileTimePasses(
    world.client.create(Secret, { metadata: { name: "theirs", namespace: RACK }, stringData }),
  );
  await claim(world, "b", "tenant", { userData: { name: "theirs" } });
  await world.clock.run(30 * MINUTE);
  assert.equal(ready(await claimed(world, "b", "tenant"))?.reason, "NoCapacity");
  assert.equal((await world.host("node-1"))?.spec.consumerRef, undefined);
  await world.whileTimePasses(world.client.delete(HostClaim, { name: "b", namespace: "tenant" }));
  await world.until("it is gone", async () => (await claimed(world, "b", "tenant")) === undefined);
});

test("a claim's changes reach its host: power, and another image", async (t) => {
  const world = await rackWith(t, "node-1");
  const server = world.servers.get("node-1")!;
  await claim(world, "a", RACK);
  await world.until("it runs", () => server.running?.is === "system");
  await world.until("it is ready", async () => ready(await claimed(world, "a"))?.status === "True");
  const change = (spec: object) =>
    world.whileTimePasses(
      world.client.patch(HostClaim, { name: "a", namespace: RACK }, { type: "merge", body: { spec } }),
    );
  await change({ poweredOn: false });
  await world.until("it is off", () => !server.isOn);
  const other = "http://images.invalid/other.raw";
  await change({ poweredOn: true, image: { ...IMAGE, url: other } });
  await world.until("the other runs", () => server.running?.is === "system" && server.running.image === other);
});

test("a claim that somebody takes its host from has one again at once", async (t) => {
  const world = await rackWith(t, "node-1");
  await claim(world, "a", RACK);
  await world.until("it is ready", async () => ready(await claimed(world, "a"))?.status === "True");
  await world.change("node-1", { spec: { consumerRef: null, image: null } });
  await world.until("it is its again", async () => (await world.host("node-1"))?.spec.consumerRef?.name === "a");
  await world.until("it is ready", async () => ready(await claimed(world, "a"))?.status === "True");
});

test("a claim gets a host of its failure domain where there is one", async (t) => {
  const world = await rackWith(t, "node-1", "node-2", "node-3");
  const label = "infrastructure.cluster.x-k8s.io/failure-domain";
  for (const [at, name] of ["node-1", "node-2", "node-3"].entries())
    await world.change(name, { metadata: { labels: { [label]: `zone-${at + 1}` } } });
  // It is a preference: while the host of a zone is still being prepared, another is taken.
  for (const name of ["node-1", "node-2", "node-3"]) await world.reaches(name, "available");
  for (const zone of [3, 1, 2]) {
    await claim(world, `in-${zone}`, RACK, { failureDomain: `zone-${zone}` });
    await world.until("it is ready", async () => ready(await claimed(world, `in-${zone}`))?.status === "True");
    assert.equal((await world.host(`node-${zone}`))?.spec.consumerRef?.name, `in-${zone}`);
  }
});

test("a policy that asks for a label of the claim's namespace is heeded as that namespace is then", async (t) => {
  const world = await rackWith(t, "node-1");
  await world.whileTimePasses(ensureNamespace(world.client, "tenant", new AbortController().signal));
  const spec = { hostClaimNamespaces: { hasLabels: [{ name: "team", value: "metal" }] } };
  await world.whileTimePasses(
    world.client.create(HostDeployPolicy, { metadata: { name: "teams", namespace: RACK }, spec }),
  );
  await claim(world, "a", "tenant");
  await world.until("it is refused", async () => ready(await claimed(world, "a", "tenant"))?.reason === "NoCapacity");
  const body = { metadata: { labels: { team: "metal" } } };
  await world.whileTimePasses(world.client.patch(Namespace, { name: "tenant" }, { type: "merge", body }));
  await world.until("it is ready", async () => ready(await claimed(world, "a", "tenant"))?.status === "True");
});
