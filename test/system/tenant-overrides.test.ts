/** Resources of a tenant that are in another DataStore than the rest. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import type { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { MINUTE, TenantLifeWorld } from "./tenant-life-world.ts";

async function withWorld(
  run: (world: TenantLifeWorld, one: () => Promise<TenantControlPlane | undefined>) => Promise<void>,
): Promise<void> {
  const world = await TenantLifeWorld.create();
  try {
    await world.dataStore("default");
    await world.dataStore("second");
    await world.operator();
    await run(world, async () => (await world.tenants())[0]);
  } finally {
    await world.close();
  }
}
const stateOf = (one: TenantControlPlane | undefined): string | undefined =>
  one?.status?.kubernetesResources?.version?.status;
const waits = (one: TenantControlPlane | undefined): string => one?.status?.waitingFor ?? "";

test("overrides have a place of the tenant's in each of their DataStores, which they keep, and leave nothing there", async () => {
  await withWorld(async (world, one) => {
    await world.apply("a", { elsewhere: { "/events": "second", "apps/deployments": "second" } });
    await world.until("it is ready", async () => stateOf(await one()) === "Ready");
    const { uid } = (await one())!.metadata;
    for (const [name, { places, users }] of world.databases)
      assert.deepEqual([[...places.keys()], [...users]], [[uid], [uid]], name);
    const second = async () => await world.passing(world.client.get(DataStore, { name: "second" }));
    await world.until("its use is said", async () => (await second()).status?.usedBy?.[0] === "tenants/a");
    await world.passing(world.client.delete(DataStore, { name: "second" }));
    await world.clock.run(5 * MINUTE);
    assert.ok((await second()).metadata.deletionTimestamp, "it is kept while it is used");
    await world.restart();
    await world.clock.run(MINUTE);
    assert.equal(stateOf(await one()), "Ready");
    await world.delete("a");
    await world.until("it is gone", async () => (await world.tenants()).length === 0);
    await world.checkNothingLeft();
  });
});

test("B27 a DataStore that stays away is named by the event that gives it up, and keeps nothing in the others", async () => {
  await withWorld(async (world, one) => {
    await world.apply("a", { elsewhere: { "/events": "second" } });
    await world.until("it is ready", async () => stateOf(await one()) === "Ready");
    const [own, second] = [...world.databases.values()];
    second!.isUp = false;
    await world.delete("a");
    await world.clock.run(10 * MINUTE);
    assert.deepEqual([...own!.places, ...own!.users], [], "what answers is cleared at once");
    assert.match(waits(await one()), /connection refused/);
    await world.until("it is gone", async () => (await world.tenants()).length === 0, 70 * MINUTE);
    const events = await world.events("LeftOver");
    assert.deepEqual(events, [
      "its place in DataStore second: given up after an hour: the database: connection refused",
    ]);
  });
});

test("of a running tenant events may go elsewhere and back, and what would strand objects is refused while it runs on", async () => {
  await withWorld(async (world, one) => {
    await world.apply("a");
    await world.until("it is ready", async () => stateOf(await one()) === "Ready");
    await world.apply("a", { elsewhere: { "/pods": "second" } });
    await world.until("it is refused", async () => /would stay there/.test(waits(await one())));
    assert.match(waits(await one()), /objects of \/pods are in the tenant's own DataStore.*set it back/);
    assert.equal(stateOf(await one()), "Ready");
    await world.apply("a", { elsewhere: { "/events": "second" } });
    await world.until("it is well", async () => waits(await one()) === "" && stateOf(await one()) === "Ready");
    const places = [...world.databases.values()].map((database) => database.places.size);
    assert.deepEqual(places, [1, 1]);
    await world.apply("a");
    const isBack = async () => (await one())?.metadata.annotations?.["slipway.dev/datastore-overrides"] === "=second";
    await world.until("they are back", isBack);
    await world.delete("a");
    await world.until("it is gone", async () => (await world.tenants()).length === 0);
    await world.checkNothingLeft();
  });
});

test("an override whose DataStore is missing or of another authority says so, and heals when it is right", async () => {
  await withWorld(async (world, one) => {
    await world.apply("a", { elsewhere: { "/events": "third" } });
    await world.until("it is said", async () => /there is no DataStore "third"/.test(waits(await one())));
    await world.newAuthority("second");
    await world.apply("a", { elsewhere: { "/events": "second" } });
    await world.until("it is said", async () => /one certificate for both/.test(waits(await one())));
    assert.match(waits(await one()), /same tlsConfig.certificateAuthority, or keep \/events with the rest/);
    assert.deepEqual(
      [...world.databases.values()].map(({ places }) => places.size),
      [0, 0],
    );
    await world.newAuthority("default");
    await world.until("it is still said", async () => /one certificate for both/.test(waits(await one())));
    await world.apply("a");
    await world.until("it is ready", async () => stateOf(await one()) === "Ready" && waits(await one()) === "");
  });
});

test("B51 a tenant that another operator has run keeps its overrides, and a move needs the same authority", async () => {
  await withWorld(async (world, one) => {
    await world.dataStore("third");
    await world.kill();
    await world.apply("a", { elsewhere: { "/pods": "second" } });
    const status = { kubernetesResources: { version: { version: "v1.33.0", status: "Ready" as const } } };
    await world.setStatus("a", status);
    await world.operator();
    await world.until("it is ready", async () => stateOf(await one()) === "Ready" && waits(await one()) === "");
    assert.equal((await one())!.metadata.annotations!["slipway.dev/datastore-overrides"], "/pods=second");
    await world.newAuthority("third");
    await world.apply("a", { elsewhere: { "/pods": "second" }, dataStore: "third" });
    await world.until("it is said", async () => /it holds \/pods, and has another authority/.test(waits(await one())));
    assert.equal(stateOf(await one()), "Ready");
    await world.apply("a", { elsewhere: { "/pods": "second" }, dataStore: "second" });
    await world.until("it is said", async () => /the tenant's own DataStore/.test(waits(await one())));
    assert.equal(stateOf(await one()), "Ready");
  });
});
