/** Tenants move between two real etcds, and the operator dies at each of its effects. Their API servers are stood in for. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { systemClock as clock, deadline, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient, createManager } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import type { Datastore, DatastoreOptions } from "../../src/datastores/datastore.ts";
import { EtcdClient } from "../../src/datastores/etcd/client.ts";
import { openDatastore } from "../../src/datastores/open.ts";
import { installCrds } from "../../src/kinds/install.ts";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import { KAMAJI_KINDS } from "../../src/kinds/kamaji/kinds.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { dataStoreController } from "../../src/systems/kamaji/data-store-controller.ts";
import { MIGRATION } from "../../src/systems/kamaji/names.ts";
import { Runtimes } from "../../src/systems/kamaji/runtimes.ts";
import { Stores } from "../../src/systems/kamaji/stores.ts";
import { tenantController } from "../../src/systems/kamaji/tenant-controller.ts";
import type { Observed, Plane } from "../../src/tenants/plane.ts";
import { PortBook } from "../../src/tenants/ports.ts";
import type { Runtime } from "../../src/tenants/runtime.ts";
import { type EtcdServer, NEEDS, startEtcd } from "../datastores/servers/etcd.ts";
import { skipWithout } from "../datastores/servers/programs.ts";
import { PATIENT } from "../datastores/servers/stage.ts";
import { type Death, Mortal } from "../system/mortal.ts";
import { stateOf } from "../system/tenants-world.ts";

const skip = skipWithout(NEEDS, "make kube-assets");
const NAMESPACE = "tenants";
const REF = { namespace: NAMESPACE, name: "a" };

interface World {
  client: ReturnType<typeof createClient>;
  servers: Record<string, { server: EtcdServer; client: EtcdClient }>;
  /** What an API server wrote last, in the order of its lives. */
  writes: string[];
}

/** In the place of API servers: each life of one writes a key to its etcd, and finds all that its former lives have written. */
class Writers implements Runtime {
  readonly name = "process";
  readonly #world: World;
  readonly #mortal: Mortal;
  readonly #book = new PortBook();
  #at: string | undefined;

  constructor(world: World, mortal: Mortal) {
    this.#world = world;
    this.#mortal = mortal;
  }

  async place(id: string, wanted: { port: number; exact: boolean }) {
    return await this.#book.take(id, { host: "127.0.0.1", ...wanted });
  }

  async releaseOf() {
    return undefined;
  }

  async ensure(plane: Plane): Promise<Observed> {
    if (this.#mortal.dead) return await new Promise(() => {});
    if (plane.replicas === 0) {
      this.#at = undefined;
      return { readyReplicas: 0, components: [] };
    }
    const { writes, servers } = this.#world;
    const endpoint = plane.store!.endpoints[0]!.replace("https://", "");
    const { client } = Object.values(servers).find(({ server }) => server.options.endpoints[0] === endpoint)!;
    if (this.#at !== endpoint) {
      const { prefix } = plane.store!;
      const key = (write: string): string => `${prefix}/${write}`;
      const { kvs } = await client.range({ key: `${prefix}/`, end: `${prefix}0`, limit: 0, revision: 0n }, PATIENT);
      assert.deepEqual(kvs.map((kv) => Buffer.from(kv.key).toString()).sort(), writes.map(key).sort());
      const write = `life-${writes.length}`;
      await client.putAll([{ key: Buffer.from(key(write)), value: Buffer.from("x"), lease: 0n }], PATIENT);
      writes.push(write);
      this.#at = endpoint;
    }
    const api = { component: "kube-apiserver", ready: true, version: plane.version };
    return { readyReplicas: 1, version: plane.version, components: [api] };
  }

  transport() {
    const nothing = { status: 200, body: { items: [] }, headers: {} };
    return {
      request: async () => nothing,
      watch: () => Promise.reject(new Error("no watch")),
      close: async () => {},
    } as never;
  }

  async remove() {
    this.#at = undefined;
  }

  onChange() {
    return () => {};
  }

  async close() {}
}

/** A database whose changes are effects of the process. */
function mortalDatastore(mortal: Mortal) {
  return async (options: DatastoreOptions): Promise<Datastore> => {
    const inner = await openDatastore(options);
    const effect = <T>(call: () => Promise<T>): Promise<T> => mortal.machine(true, call);
    const look = <T>(call: () => Promise<T>): Promise<T> => mortal.machine(false, call);
    return {
      driver: inner.driver,
      check: (signal) => look(() => inner.check(signal)),
      ensure: (place, signal) => effect(() => inner.ensure(place, signal)),
      remove: (place, signal) => effect(() => inner.remove(place, signal)),
      places: (signal) => look(() => inner.places(signal)),
      // The target is the wrapped one, which the driver would not know.
      copy: (place, to, progress, signal) => effect(() => inner.copy(place, innerOf.get(to)!, progress, signal)),
      count: (place, signal) => look(() => inner.count(place, signal)),
      close: () => inner.close(),
    };
  };
}
const innerOf = new WeakMap<Datastore, Datastore>();

async function open(mortal: Mortal, options: DatastoreOptions): Promise<Datastore> {
  const inner = await openDatastore(options);
  const outer = await mortalDatastore(mortal)(options);
  innerOf.set(outer, inner);
  return outer;
}

async function serversOf(t: TestContext): Promise<World["servers"]> {
  const servers: World["servers"] = {};
  for (const name of ["first", "second"]) {
    const server = await startEtcd(t);
    const client = new EtcdClient({ ...server.options, clock, log });
    t.after(() => client.close());
    servers[name] = { server, client };
  }
  return servers;
}

async function worldOf(
  t: TestContext,
  servers: World["servers"],
): Promise<World & { start: (death?: Death) => Promise<{ mortal: Mortal; stop: () => Promise<void> }> }> {
  const api = await createApiServer({ clock, random, log });
  t.after(() => api.close());
  const client = createClient(api.transport(), { clock, random, log });
  await installCrds(client, clock, PATIENT, KAMAJI_KINDS);
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  const content = (text = "") => ({ content: Buffer.from(text).toString("base64") });
  for (const [name, { server }] of Object.entries(servers)) {
    const { authority, options } = server;
    await client.create(DataStore, {
      metadata: { name },
      spec: {
        driver: "etcd",
        endpoints: [...options.endpoints],
        tlsConfig: {
          certificateAuthority: {
            certificate: content(authority.certificatePem),
            privateKey: content(authority.keyPem),
          },
          clientCertificate: { certificate: content(options.tls?.cert), privateKey: content(options.tls?.key) },
        },
      },
    });
  }
  const world: World = { client, servers, writes: [] };
  const start = async (death?: Death) => {
    const mortal = new Mortal(death);
    const stores = new Stores({ clock, log, open: (options) => open(mortal, options) });
    const runtimes = new Runtimes({ wanted: "process", start: async () => new Writers(world, mortal) });
    const transport = mortal.transport(api.transport());
    const manager = createManager({ transport, clock, random, log, leaderElection: false, reconcileMs: 20_000 });
    manager.add(tenantController(runtimes, stores));
    manager.add(dataStoreController(stores));
    await manager.start();
    const stop = async (): Promise<void> => {
      if (mortal.dead) void manager.stop();
      else await manager.stop();
      await stores.close();
    };
    t.after(stop);
    return { mortal, stop };
  };
  return { ...world, start };
}

async function apply({ client }: World, dataStore: string): Promise<void> {
  const body = {
    apiVersion: "kamaji.clastix.io/v1alpha1",
    kind: "TenantControlPlane",
    metadata: REF,
    spec: {
      dataStore,
      controlPlane: { deployment: { replicas: 1 }, service: { serviceType: "LoadBalancer" } },
      kubernetes: { version: "v1.36.3", kubelet: { cgroupfs: "systemd" } },
      networkProfile: { port: 37_443 },
    },
  };
  await client.patch(TenantControlPlane, REF, { type: "apply", body, fieldManager: "t", force: true });
}

/** The tenant once it is so. */
async function until(
  { client }: World,
  what: (tenant: TenantControlPlane) => boolean,
  mortal?: Mortal,
): Promise<TenantControlPlane | undefined> {
  const { signal, done } = deadline(clock, 60_000);
  try {
    for (;;) {
      const tenant = await client.get(TenantControlPlane, REF);
      if (what(tenant)) return tenant;
      if (mortal?.dead) return undefined;
      assert.ok(!signal.aborted, JSON.stringify([tenant.metadata.annotations, tenant.status]));
      await clock.sleep(10);
    }
  } finally {
    done();
  }
}

const isAt =
  (name: string) =>
  (tenant: TenantControlPlane): boolean =>
    stateOf(tenant) === "Ready" &&
    tenant.status?.storage?.dataStoreName === name &&
    tenant.metadata.annotations?.[MIGRATION] === undefined;

async function placesIn({ servers }: World): Promise<Record<string, string[]>> {
  const roles = Object.entries(servers).map(async ([name, { client }]) => [
    name,
    (await client.roles(PATIENT)).filter((role) => role !== "root"),
  ]);
  return Object.fromEntries(await Promise.all(roles));
}

async function removed(world: World): Promise<void> {
  await world.client.delete(TenantControlPlane, REF);
  const { signal, done } = deadline(clock, 30_000);
  while ((await world.client.find(TenantControlPlane, REF)) !== undefined) {
    assert.ok(!signal.aborted, "the tenant is still there");
    await clock.sleep(10);
  }
  done();
}

/** Moves a tenant from the first to the second, dying on the way. Resolves with the effects of the first process. */
async function moved(
  t: TestContext,
  servers: World["servers"],
  death: Death | undefined,
  back: boolean,
): Promise<number> {
  const world = await worldOf(t, servers);
  await apply(world, "first");
  const before = await world.start();
  const tenant = await until(world, isAt("first"));
  await before.stop();
  const { mortal, stop } = await world.start(death);
  await apply(world, "second");
  await until(world, isAt("second"), mortal);
  await stop();
  const end = back ? "first" : "second";
  if (mortal.dead) {
    if (back) await apply(world, "first");
    await world.start();
    await until(world, isAt(end));
  }
  const { uid } = tenant!.metadata;
  if (mortal.dead || !back) {
    assert.deepEqual(await placesIn(world), { first: back ? [uid] : [], second: back ? [] : [uid] });
    assert.ok(world.writes.length >= 2);
  }
  if (!mortal.dead) await world.start();
  await removed(world);
  assert.deepEqual(await placesIn(world), { first: [], second: [] });
  return mortal.effects;
}

test("B27 B28 a tenant that is moved between DataStores has its last write, and one place, wherever the operator dies", {
  skip,
}, async (t) => {
  const servers = await serversOf(t);
  const effects = await moved(t, servers, undefined, false);
  assert.ok(effects > 6, `${effects} effects`);
  for (let atEffect = 1; atEffect <= effects; atEffect++)
    for (const when of ["before", "after"] as const)
      await t.test(`death ${when} effect ${atEffect} of ${effects}`, async (t) => {
        await moved(t, servers, { atEffect, when }, atEffect % 2 === 0);
      });
});

test("a move that can't be is refused in words, and the tenant goes on where it is", { skip }, async (t) => {
  const servers = await serversOf(t);
  const world = await worldOf(t, servers);
  const { client } = world;
  const content = { content: "YQ==" };
  await client.create(DataStore, {
    metadata: { name: "sql" },
    spec: { driver: "MySQL", endpoints: ["127.0.0.1:1"], basicAuth: { username: content, password: content } },
  });
  await apply(world, "first");
  await world.start();
  const { metadata } = (await until(world, isAt("first")))!;
  const stalled = async (what: RegExp): Promise<void> => {
    const tenant = await until(
      world,
      ({ status }) =>
        status?.conditions?.some(({ type, message }) => type === "Stalled" && what.test(message)) === true,
    );
    assert.equal(stateOf(tenant!), "Ready");
    assert.equal(tenant!.status!.storage!.dataStoreName, "first");
  };
  await apply(world, "sql");
  await stalled(
    /its driver is MySQL, and the tenant's objects are in first, driver etcd; set spec.dataStore back to first/,
  );
  await apply(world, "nowhere");
  await stalled(/DataStore\/nowhere: there is none of this name/);
  // A place of the same name that somebody else has made.
  const { client: etcd } = servers.second!;
  const { uid } = metadata;
  await etcd.addRole(uid, PATIENT);
  await etcd.grantRange(uid, `/${uid}/`, `/${uid}0`, PATIENT);
  await apply(world, "second");
  await stalled(/it has .* already, and not as a copy of this tenant's; remove it there/);
  await etcd.deleteRole(uid, PATIENT);
  await until(world, isAt("second"));
  await removed(world);
});
