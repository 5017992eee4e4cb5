/** What goes wrong around tenants, in virtual time: each failure is said where it is, delays nobody else, and heals by itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import { MINUTE, TenantLifeWorld } from "./tenant-life-world.ts";

const DAY = 24 * 60 * MINUTE;
const SECOND = 1_000;

const stateIn = async (world: TenantLifeWorld, name: string): Promise<string | undefined> =>
  (await world.tenants()).find(({ metadata }) => metadata.name === name)?.status?.kubernetesResources?.version?.status;

test("B24 tenants whose database hangs delay no other tenant", async () => {
  const world = await TenantLifeWorld.create();
  try {
    const hangs = await world.dataStore("hangs");
    hangs.callMs = 20 * MINUTE;
    await world.dataStore("default");
    await world.operator();
    // More than there are workers.
    for (let at = 0; at < 20; at++) await world.apply(`a${at}`, { dataStore: "hangs" });
    const began = world.clock.monotonic();
    await world.apply("b");
    await world.until(
      "the other tenant is ready",
      async () => (await stateIn(world, "b")) === "Ready",
      5 * MINUTE,
      SECOND,
    );
    const took = world.clock.monotonic() - began;
    assert.ok(took < MINUTE, `it took ${took / SECOND} s`);
  } finally {
    await world.close();
  }
});

test("B24 tenants whose own API takes requests and never answers delay no other tenant, and say so", async () => {
  const world = await TenantLifeWorld.create();
  try {
    await world.dataStore("default");
    await world.operator();
    world.runtime.hangs = (name) => name.includes("/a");
    // More than there are workers.
    for (let at = 0; at < 17; at++) await world.apply(`a${at}`);
    await world.clock.run(30 * SECOND);
    const began = world.clock.monotonic();
    await world.apply("b");
    const isReady = async () => (await stateIn(world, "b")) === "Ready";
    await world.until("the other tenant is ready", isReady, 5 * MINUTE, SECOND);
    const took = world.clock.monotonic() - began;
    assert.ok(took < 30 * SECOND, `it took ${took / SECOND} s`);
    const waits = async () =>
      (await world.tenants()).find(({ metadata }) => metadata.name === "a0")?.status?.waitingFor;
    assert.match((await waits()) ?? "", /its API: it takes long to take what nodes join by/);
    await world.until(
      "it is given up",
      async () => /not answered within 120 s/.test((await waits()) ?? ""),
      5 * MINUTE,
    );
    world.runtime.hangs = (name) => name.includes("/a") && !name.endsWith("/a0");
    const a0 = (await world.tenants()).find(({ metadata }) => metadata.name === "a0")!;
    world.runtime.crash(a0.metadata.uid);
    await world.until("it heals", async () => (await stateIn(world, "a0")) === "Ready");
  } finally {
    await world.close();
  }
});

test("B26 a tenant at rest is looked at, and not written", async () => {
  const world = await TenantLifeWorld.create();
  try {
    await world.dataStore("default");
    await world.operator();
    await world.apply("a");
    await world.until("it is ready", async () => (await stateIn(world, "a")) === "Ready");
    const rests = async (by: string): Promise<void> => {
      await world.clock.run(MINUTE);
      const held = async () => (await world.tenants())[0]!.metadata.resourceVersion;
      const before = await held();
      await world.clock.run(20 * MINUTE);
      assert.equal(await held(), before, by);
    };
    await rests("by its operator");
    await world.restart();
    await rests("by another operator");
  } finally {
    await world.close();
  }
});

test("credentials that a database refuses are said on the DataStore and its tenant, and both heal when they are right", async () => {
  let isRefused = true;
  const world = await TenantLifeWorld.create({
    befall() {
      if (isRefused) throw new Fault("BadCredentials", "the database", "the password is wrong");
    },
  });
  try {
    await world.dataStore("default");
    await world.operator();
    await world.apply("a");
    const store = async () => await world.passing(world.client.get(DataStore, { name: "default" }));
    await world.until("it is said", async () => {
      const [tenant] = await world.tenants();
      return /the password is wrong/.test(tenant?.status?.waitingFor ?? "") && (await store()).status?.ready === false;
    });
    isRefused = false;
    await world.until(
      "it heals",
      async () => (await stateIn(world, "a")) === "Ready" && (await store()).status?.ready === true,
    );
  } finally {
    await world.close();
  }
});

test("a clock that jumps to the end of a tenant's certificates leaves it with new ones; an authority that has ended is said", async () => {
  const world = await TenantLifeWorld.create();
  try {
    await world.dataStore("default");
    await world.operator();
    await world.apply("a");
    await world.until("it is ready", async () => (await stateIn(world, "a")) === "Ready");
    const certificates = async () => (await world.tenants())[0]!.status!.certificates!;
    const before = await certificates();
    world.clock.step(364.5 * DAY);
    const server = before.apiServer?.checksum;
    await world.until(
      "the leaves are new",
      async () => (await certificates()).apiServer?.checksum !== server,
      10 * MINUTE,
    );
    assert.equal((await certificates()).ca?.checksum, before.ca?.checksum);
    assert.ok((await world.events("CertificateRenewed")).some((message) => message === "apiServer: expiring"));

    world.clock.step(3_650 * DAY);
    await world.until("it is said", async () =>
      /certificateAuthority of DataStore\/default: it ends within a day, or has ended; give the database/.test(
        (await world.tenants())[0]!.status?.waitingFor ?? "",
      ),
    );
    const { resourceVersion } = (await world.tenants())[0]!.metadata;
    await world.clock.run(20 * MINUTE);
    assert.equal(
      (await world.tenants())[0]!.metadata.resourceVersion,
      resourceVersion,
      "nothing is written again and again",
    );
    await world.newAuthority("default");
    await world.until("it is ready with a new authority of its own", async () => {
      const { ca } = await certificates();
      return ca?.checksum !== before.ca?.checksum && (await stateIn(world, "a")) === "Ready";
    });
  } finally {
    await world.close();
  }
});
