/** Tenants in virtual time: the embedded API, both controllers of system kamaji, simulated databases and control planes. */
import assert from "node:assert/strict";
import type { ApiServer } from "@slipway/apiserver";
import { isFault, quietLog as log, type Random, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, type Controller, createClient, createManager, type Transport } from "@slipway/kube";
import { Event, Namespace, Secret } from "@slipway/kube/core";
import type { Datastore } from "../../src/datastores/datastore.ts";
import { installCrds } from "../../src/kinds/install.ts";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import { KAMAJI_KINDS } from "../../src/kinds/kamaji/kinds.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { DEFAULT_NAMESPACE } from "../../src/operator/defaults.ts";
import { createAuthority, issueClient } from "../../src/pki/authority.ts";
import { makePki } from "../../src/pki/tenant/make.ts";
import { type Befall, SimDatabase } from "../../src/sim/tenants/sim-database.ts";
import { SimRuntime } from "../../src/sim/tenants/sim-runtime.ts";
import { dataStoreController } from "../../src/systems/kamaji/data-store-controller.ts";
import { Runtimes } from "../../src/systems/kamaji/runtimes.ts";
import { Stores } from "../../src/systems/kamaji/stores.ts";
import { tenantController } from "../../src/systems/kamaji/tenant-controller.ts";
import type { Runtime } from "../../src/tenants/runtime.ts";
import { beginApi, type WorldApi } from "./api.ts";
import type { CrewWorld, Replica } from "./crew.ts";
import { type Death, Mortal } from "./mortal.ts";

export const MINUTE = 60_000;
export const NAMESPACE = "tenants";

/** Work on threads of this process: virtual time waits for it. */
class Outside {
  #under = 0;
  #change = Promise.withResolvers<void>();

  async track<T>(work: Promise<T>): Promise<T> {
    this.#under++;
    try {
      return await work;
    } finally {
      this.#under--;
      this.#change.resolve();
      this.#change = Promise.withResolvers();
    }
  }

  wait(): Promise<void> | undefined {
    return this.#under === 0 ? undefined : this.#change.promise;
  }
}

interface Running {
  mortal: Mortal;
  runtime: SimRuntime;
  stop(): Promise<void>;
}

export interface TenantWish {
  version?: string;
  replicas?: number;
  dataStore?: string;
  /** DataStores of resources that are not with the rest. */
  elsewhere?: Readonly<Record<string, string>>;
  /** Schema and user in its DataStore. Default: its own. */
  names?: string;
}

export interface LifeOptions {
  seed?: number;
  /** What befalls calls to databases. */
  befall?: Befall;
  /** Wraps the operator's way to the API. */
  transport?: (inner: Transport) => Transport;
  /** What there is beside tenants: kinds, and the controllers of the same process. */
  kinds?: readonly (readonly Kind[])[];
  controllers?: (process: { world: TenantLifeWorld; mortal: Mortal; client: Client }) => {
    controllers: readonly Controller[];
    close(): Promise<void>;
  };
}

export class TenantLifeWorld {
  readonly #outside = new Outside();
  readonly clock = new VirtualClock(undefined, () => this.#outside.wait() ?? this.#api?.outside());
  readonly random: Random;
  readonly databases = new Map<string, SimDatabase>();
  readonly #written = new Set<string>();
  readonly #tenantApis = new Map<string, ApiServer>();
  /** Of all databases, until one gets a new one. */
  #authority: ReturnType<typeof createAuthority> | undefined;
  readonly #options: LifeOptions;
  #api!: WorldApi;
  client!: Client;
  #running: Running | undefined;
  /** Replicas that share the work, and the planes that they share. */
  readonly #crew: Running[] = [];
  #shared: SimRuntime | undefined;
  readonly broken: string[] = [];

  private constructor(options: LifeOptions) {
    this.#options = options;
    this.random = seededRandom(options.seed ?? 1);
  }

  static async create(options: LifeOptions = {}): Promise<TenantLifeWorld> {
    const world = new TenantLifeWorld(options);
    const { clock, random } = world;
    const { kinds = [] } = options;
    world.#api = await beginApi(clock, random);
    world.client = createClient(world.transport("administrator"), { clock, random, log });
    await world.passing(installCrds(world.client, clock, new AbortController().signal, [...KAMAJI_KINDS, ...kinds]));
    // On a server that worlds share it stays.
    const made = world.client.create(Namespace, { metadata: { name: NAMESPACE } }).catch((error: unknown) => {
      if (!isFault(error, "AlreadyExists")) throw error;
    });
    await world.passing(made);
    return world;
  }

  /** A way to an API of this world's time. Definitions as large as these are worked on in many turns: time waits for the answers. */
  transport(as: "administrator" | "operator", api = this.#api): Transport {
    const direct = api.transport(as);
    return {
      request: (request) => this.#outside.track(direct.request(request)),
      watch: (request) => direct.watch(request),
      close: () => direct.close(),
    };
  }

  /** Awaits what may need time to pass. */
  async passing<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    const done = work.finally(() => {
      settled = true;
    });
    done.catch(() => {});
    assert.ok(await this.clock.run(10 * MINUTE, () => settled), "a call did not end within 10 minutes");
    return await done;
  }

  /** A DataStore and its database. */
  async dataStore(name: string): Promise<SimDatabase> {
    const { clock } = this;
    const endpoint = `${name}.example:2379`;
    const database = new SimDatabase(clock, this.#options.befall);
    this.databases.set(`https://${endpoint}`, database);
    const spec = await this.#specOf(name, endpoint);
    await this.passing(this.client.create(DataStore, { metadata: { name }, spec }));
    return database;
  }

  /** Gives a DataStore another authority, as its database's administrator does in time. */
  async newAuthority(name: string): Promise<void> {
    this.#authority = undefined;
    const spec = await this.#specOf(name, `${name}.example:2379`);
    await this.passing(this.client.patch(DataStore, { name }, { type: "merge", body: { spec } }));
  }

  async #specOf(name: string, endpoint: string): Promise<DataStore["spec"]> {
    const { clock } = this;
    this.#authority ??= createAuthority({ commonName: name, clock });
    const authority = await this.#outside.track(this.#authority);
    const root = await this.#outside.track(issueClient(authority, { commonName: "root", clock, organizations: [] }));
    const content = (text: string) => ({ content: Buffer.from(text).toString("base64") });
    return {
      driver: "etcd" as const,
      endpoints: [endpoint],
      tlsConfig: {
        certificateAuthority: { certificate: content(authority.certificatePem), privateKey: content(authority.keyPem) },
        clientCertificate: { certificate: content(root.certificatePem), privateKey: content(root.keyPem) },
      },
    };
  }

  /** Starts an operator; `death` says at which effect it dies. The one before it is dead. */
  async operator(death?: Death): Promise<Mortal> {
    const mortal = new Mortal(death);
    const runtime = this.#runtime("process");
    const { manager, more } = this.#manager(mortal, runtime);
    const started = manager.start();
    const stop = async (): Promise<void> => {
      mortal.kill();
      void manager.stop();
      this.broken.push(...runtime.broken);
      // What it has under way never ends: nobody waits for it.
      void more?.close();
      await runtime.close();
    };
    this.#running = { mortal, runtime, stop };
    if (death === undefined) await this.passing(started);
    else started.catch(() => {});
    return mortal;
  }

  /** The world for replicas that share the work. Planes outlive them, as Pods of a cluster do. */
  crewWorld(): CrewWorld {
    return {
      ...{ clock: this.clock, client: this.client },
      operator: ({ shards }) => this.#replica(shards),
      until: (what, holds, forMs, stepMs) => this.until(what, async () => holds(), forMs, stepMs),
      whileTimePasses: (promise) => this.passing(promise),
    };
  }

  async #replica(shards: number): Promise<Replica> {
    const mortal = new Mortal(undefined);
    this.#shared ??= this.#runtime("deployment");
    const runtime = this.#shared;
    const { manager } = this.#manager(mortal, runtime, shards);
    const stop = async (): Promise<void> => {
      mortal.kill();
      void manager.stop();
    };
    this.#crew.push({ mortal, runtime, stop });
    await this.passing(manager.start());
    return { manager, mortal };
  }

  #runtime(name: "deployment" | "process"): SimRuntime {
    const { clock, random } = this;
    return new SimRuntime({
      ...{ clock, random, name, written: this.#written, apis: this.#tenantApis },
      database: (endpoint) => this.databases.get(endpoint),
    });
  }

  /** `shards`: over which it shares the work with others. Default: it has all of it. */
  #manager(mortal: Mortal, runtime: SimRuntime, shards?: number) {
    const { clock, random } = this;
    const direct = this.transport("operator");
    const transport = mortal.transport(this.#options.transport?.(direct) ?? direct);
    const runtimes = new Runtimes({ wanted: runtime.name, start: async () => mortalRuntime(runtime, mortal) });
    const stores = new Stores({
      ...{ clock, log },
      open: async ({ driver, endpoints }) =>
        mortalDatastore(this.databases.get(`https://${endpoints[0]}`)!.connection(driver), mortal),
    });
    const make: typeof makePki = (...of) => this.#outside.track(makePki(...of));
    const leaderElection = shards === undefined ? (false as const) : { namespace: DEFAULT_NAMESPACE, shards };
    const manager = createManager({ transport, clock, random, log, leaderElection });
    manager.add(tenantController(runtimes, stores, { makePki: make }));
    manager.add(dataStoreController(stores));
    const client = createClient(transport, { clock, random, log });
    const more = this.#options.controllers?.({ world: this, mortal, client });
    for (const controller of more?.controllers ?? []) manager.add(controller);
    return { manager, more };
  }

  /** Kills the operator; what it ran ends with it. */
  async kill(): Promise<void> {
    await this.#running?.stop();
    for (const { stop } of this.#crew.splice(0)) await stop();
    await this.#shared?.close();
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.operator();
  }

  get runtime(): SimRuntime {
    return this.#shared ?? this.#running!.runtime;
  }

  /** Writes a tenant's specification. */
  async apply(name: string, spec: TenantWish = {}): Promise<void> {
    const body = {
      apiVersion: "kamaji.clastix.io/v1alpha1",
      kind: "TenantControlPlane",
      metadata: { name, namespace: NAMESPACE },
      spec: {
        ...(spec.dataStore !== undefined && { dataStore: spec.dataStore }),
        ...(spec.names !== undefined && { dataStoreSchema: spec.names, dataStoreUsername: spec.names }),
        ...(spec.elsewhere !== undefined && {
          dataStoreOverrides: Object.entries(spec.elsewhere).map(([resource, dataStore]) => ({ resource, dataStore })),
        }),
        controlPlane: { deployment: { replicas: spec.replicas ?? 1 }, service: { serviceType: "LoadBalancer" } },
        kubernetes: { version: spec.version ?? "v1.33.0", kubelet: { cgroupfs: "systemd" } },
      },
    };
    const options = { type: "apply", body, fieldManager: "user", force: true } as const;
    await this.passing(this.client.patch(TenantControlPlane, { namespace: NAMESPACE, name }, options));
  }

  /** Writes a tenant's status, as another operator did before. */
  async setStatus(name: string, status: NonNullable<TenantControlPlane["status"]>): Promise<void> {
    const tenant = await this.passing(this.client.get(TenantControlPlane, { namespace: NAMESPACE, name }));
    await this.passing(this.client.updateStatus(TenantControlPlane, { ...tenant, status }));
  }

  async delete(name: string): Promise<void> {
    await this.passing(this.client.delete(TenantControlPlane, { namespace: NAMESPACE, name }));
  }

  async tenants(): Promise<TenantControlPlane[]> {
    return (await this.passing(this.client.list(TenantControlPlane))).items;
  }

  async events(reason: string): Promise<string[]> {
    const { items } = await this.passing(this.client.list(Event));
    return items.filter((event) => event.reason === reason).map(({ message = "" }) => message);
  }

  /** Names of the Secrets that belong to tenants. */
  async secrets(): Promise<string[]> {
    const { items } = await this.passing(this.client.list(Secret, { namespace: NAMESPACE }));
    return items.map(({ metadata }) => metadata.name);
  }

  /** Deletes a Secret of some tenant. */
  async loseSecret(draw: Random): Promise<void> {
    const names = await this.secrets();
    const name = names[draw.int(Math.max(1, names.length))];
    if (name !== undefined) await this.passing(this.client.delete(Secret, { namespace: NAMESPACE, name }));
  }

  /** What must hold at any time: each answering tenant has a place of its own, and its own objects. */
  async check(): Promise<void> {
    assert.deepEqual([...this.broken, ...this.runtime.broken], []);
    const ready = new Set(this.runtime.ready());
    const endpoints = (await this.tenants())
      .filter(({ metadata }) => ready.has(metadata.uid))
      .map(({ status }) => status?.controlPlaneEndpoint);
    assert.equal(new Set(endpoints).size, endpoints.length, `two tenants have one address: ${endpoints}`);
  }

  /** Nothing of any tenant is left, but where a database was away for so long that its tenant went without it, and says so. */
  async checkNothingLeft(): Promise<void> {
    const given = (await this.events("LeftOver")).filter((message) => /given up after an hour/.test(message));
    const isGivenUp = (name: string): boolean =>
      given.some((message) => message.includes(`DataStore ${new URL(name).hostname.split(".")[0]}:`));
    for (const [name, { places, users }] of [...this.databases].filter(([name]) => !isGivenUp(name)))
      assert.deepEqual([[...places.keys()], [...users]], [[], []], `left in ${name}`);
    assert.deepEqual(this.runtime.ready(), []);
    await this.until(
      "the tenants' Secrets are collected",
      async () => (await this.secrets()).length === 0,
      60 * MINUTE,
    );
  }

  async until(what: string, holds: () => Promise<boolean>, forMs = 24 * 60 * MINUTE, stepMs = 5_000): Promise<void> {
    const end = this.clock.monotonic() + forMs;
    while (!(await holds())) {
      if (this.clock.monotonic() >= end)
        throw new Error(`not in time: ${what}\n${JSON.stringify(await this.tenants(), undefined, 1)}`);
      await this.clock.run(stepMs);
    }
  }

  async close(): Promise<void> {
    await this.kill();
    for (const api of this.#tenantApis.values()) await api.close();
    await this.#api.close();
  }
}

function mortalRuntime(inner: SimRuntime, mortal: Mortal): Runtime {
  let before = "";
  return {
    name: inner.name,
    place: (id, wanted) => inner.place(id, wanted),
    releaseOf: (minor) => inner.releaseOf(minor),
    ensure: (plane) => {
      const now = JSON.stringify(plane);
      const isEffect = now !== before;
      before = now;
      return mortal.machine(isEffect, () => inner.ensure(plane));
    },
    transport: (id) => mortal.transport(inner.transport(id)),
    remove: (id) => mortal.machine(true, () => inner.remove(id)),
    onChange: (listener) => inner.onChange((id) => !mortal.dead && listener(id)),
    close: () => inner.close(),
  };
}

/** What a copy goes to is a driver's own. */
const INNER = new WeakMap<Datastore, Datastore>();

function mortalDatastore(inner: Datastore, mortal: Mortal): Datastore {
  const outer: Datastore = {
    driver: inner.driver,
    check: (signal) => mortal.machine(false, () => inner.check(signal)),
    ensure: (place, signal) => mortal.machine(true, () => inner.ensure(place, signal)),
    remove: (place, signal) => mortal.machine(true, () => inner.remove(place, signal)),
    places: (signal) => mortal.machine(false, () => inner.places(signal)),
    copy: (place, to, ...more) => mortal.machine(true, () => inner.copy(place, INNER.get(to) ?? to, ...more)),
    count: (place, signal) => mortal.machine(false, () => inner.count(place, signal)),
    close: () => inner.close(),
  };
  INNER.set(outer, inner);
  return outer;
}
