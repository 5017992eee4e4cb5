/**
 * The controller runtime: controllers that are plain data, run over any way to a Kubernetes API.
 *
 * Promises what controller-runtime promises: level-triggered reconciles, never two at once for one key, retries with back-off,
 * caches filled before the first reconcile, one leading replica per system, and no write without a lease that is surely held.
 * Systems do not hold each other up: each works as soon as the kinds that it needs are listed.
 * Needs a `Transport`, a `Clock`, a `Random` and a `Log`; reads no wall clock and opens no socket by itself, so it runs in virtual
 * time. Knows nothing of Slipway's kinds, machines or providers.
 */
import { type Clock, Fault, type Log, type Random, uuid } from "@slipway/base";
import type { Cache } from "./cache.ts";
import type { Client } from "./client.ts";
import type { Access, Controller, Source } from "./controller.ts";
import { CustomResourceDefinition, Event, Lease } from "./core.ts";
import { Definitions, type DefinitionWatch } from "./definitions.ts";
import { type Health, problemsOf, type SystemHealth } from "./health.ts";
import { type Election, FLUSH_MS, type LeaderElection, ManagedSystem, type SystemPorts } from "./managed-system.ts";
import { meteredTransport, type RuntimeMetrics } from "./metrics.ts";
import { MissingKinds } from "./missing-kinds.ts";
import { answered, filled, isFilled, type Need, needOf } from "./needs.ts";
import type { Resource } from "./object.ts";
import type { Outgoing } from "./outgoing.ts";
import { TokenBucket } from "./rate-limit.ts";
import { reachedTransport } from "./reached-transport.ts";
import { reflect } from "./reflector.ts";
import { createClient } from "./rest-client.ts";
import { crewOf, ShardKeeper, shardLease } from "./shard-keeper.ts";
import { StoreCache } from "./store-cache.ts";
import type { Transport } from "./transport.ts";
import { within } from "./within.ts";

export interface ManagerOptions {
  transport: Transport;
  clock: Clock;
  random: Random;
  log: Log;
  metrics?: RuntimeMetrics;
  /** False: this process leads every system; only for a single replica. */
  leaderElection: LeaderElection | false;
  /** Controllers of other systems are left out. Unset: all. */
  systems?: readonly string[];
  /** Requests of all controllers together; unset: not limited. */
  limits?: { qps: number; burst: number };
  /** What events and statuses pass before they leave. */
  outgoing?: Outgoing;
  /** 2 minutes unless said. */
  reconcileMs?: number;
  /** How long `stop` waits for reconciles. 30 s unless said. */
  stopMs?: number;
  /** How the definition of a kind is installed: said once on the log when the API does not serve it. */
  remedy?: (resource: Resource) => string | undefined;
}

export interface Manager {
  readonly cache: Cache;
  /** For kinds that no source names, and that are missing when they are asked for. They are followed until the manager stops. */
  readonly definitions: DefinitionWatch;
  /** Adds a controller. Before `start` only. */
  add(controller: Controller): void;
  /** Keeps a resource in the cache for users other than controllers. Before `start` only. */
  watch(source: Source): void;
  /**
   * Resolves when each cache is filled or its kind is known to be missing, or the manager was stopped before. Aborting `signal` stops it.
   * Systems that wait for a kind begin by themselves when its definition is installed.
   */
  start(signal?: AbortSignal): Promise<void>;
  /** Resolves when all systems are ready, or the manager was stopped before. After `start`. */
  whenReady(): Promise<void>;
  /** Ends reconciles, waits for them within the deadline, writes the last events, gives leases back. */
  stop(): Promise<void>;
  /** Whether all systems are ready. */
  ready(): boolean;
  health(): Health;
  /** Whether this process leads the system at this very moment. */
  leading(system: string): boolean;
  /** A client whose writes fail with `NotLeader` while the system is not led from here. A system without controllers is named before `start`. */
  client(system: string): Client;
  /** Whether some kind was not asked for yet or some key is ready or worked on. Keys that wait for their time and missing kinds don't count. */
  busy(): boolean;
  queues(): { controller: string; ready: number; active: number; delayed: number }[];
}

const RECONCILE_MS = 2 * 60_000;
const STOP_MS = 30_000;
/** A manager with its client and caches. Nothing is requested before it is started. */
export function createManager(options: ManagerOptions): Manager {
  return new Runtime(options);
}

class Runtime implements Manager {
  readonly cache = new StoreCache();
  readonly #options: ManagerOptions;
  readonly #reader: Client;
  readonly #ports: SystemPorts;
  readonly #systems = new Map<string, ManagedSystem>();
  readonly #shared: Need[] = [];
  readonly #missing: MissingKinds;
  readonly definitions: Definitions;
  readonly #madeAt: number;
  readonly #allReady = Promise.withResolvers<void>();
  readonly #background: Promise<void>[] = [];
  readonly #reflecting = new AbortController();
  readonly #electing = new AbortController();
  #reached = false;
  #started = false;
  #stopping: Promise<void> | undefined;

  constructor(options: ManagerOptions) {
    const { clock, random, log, metrics, leaderElection, outgoing, reconcileMs = RECONCILE_MS } = options;
    this.#options = options;
    const noting = reachedTransport(options.transport, () => {
      this.#reached = true;
    });
    const transport = metrics === undefined ? noting : meteredTransport(noting, metrics);
    // A lease must not wait behind other requests for its turn.
    const unlimited = {
      ...{ clock, random, log, fieldManager: "slipway" },
      // What is written is typed: looking for unknown fields costs the server a twentieth of each write.
      fieldValidation: "Ignore" as const,
      ...(outgoing && { outgoing }),
    };
    const clientOptions = {
      ...unlimited,
      ...(options.limits === undefined ? {} : { limits: new TokenBucket(clock, options.limits) }),
    };
    this.#reader = createClient(transport, clientOptions);
    this.#missing = new MissingKinds({ clock, log, remedy: options.remedy });
    this.definitions = new Definitions({ client: this.#reader, clock, random, log }, this.#reflecting.signal);
    this.#madeAt = clock.now();
    this.#ports = {
      transport,
      clientOptions,
      cache: this.cache,
      clock,
      random,
      log,
      metrics,
      outgoing,
      reconcileMs,
      election:
        leaderElection === false
          ? undefined
          : {
              ...leaderElection,
              identity: leaderElection.identity ?? `slipway_${uuid(random)}`,
              client: createClient(transport, unlimited),
            },
      isStarted: () => this.#started,
      isStopping: () => this.#stopping !== undefined,
    };
    metrics?.observeSystems(() => this.#health());
  }

  add(controller: Controller): void {
    this.#mustNotRun();
    const { systems } = this.#options;
    if (systems === undefined || systems.includes(controller.system)) this.#system(controller.system).add(controller);
  }

  watch(source: Source): void {
    this.#mustNotRun();
    this.#shared.push(needOf(this.cache, source));
  }

  async start(signal?: AbortSignal): Promise<void> {
    this.#mustNotRun();
    this.#started = true;
    const halted = Promise.withResolvers<void>();
    const stopped = this.#reflecting.signal;
    stopped.addEventListener("abort", () => halted.resolve(), { once: true });
    const onAbort = (): void => void this.stop();
    signal?.addEventListener("abort", onAbort, { once: true });
    stopped.addEventListener("abort", () => signal?.removeEventListener("abort", onAbort), { once: true });
    halted.promise.then(this.#allReady.resolve);
    this.#begin();
    if (signal?.aborted) onAbort();
    const filling = [...this.#systems.values()].map((of) => ({ of, all: of.fill() }));
    Promise.all([...filling.map(({ all }) => all), filled(this.#shared)]).then(
      () => this.#allReady.resolve(),
      this.#allReady.reject,
    );
    // Who does not wait for it learns of a failure from `start` or the log.
    this.#allReady.promise.catch(() => {});
    const begin = [...filling.map(({ of, all }) => of.begun(all)), answered(this.#shared)];
    await Promise.race([Promise.all(begin), halted.promise]);
  }

  whenReady(): Promise<void> {
    return this.#allReady.promise;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#shutDown();
    return this.#stopping;
  }

  ready(): boolean {
    if (!this.#started || this.#stopping !== undefined) return false;
    return this.#health().every((of) => of.ready) && this.#shared.every(isFilled);
  }

  health(): Health {
    const systems = this.#health();
    const live = systems.every(({ problems }) => problems.length === 0);
    return { live, reached: this.#reached, ready: this.ready(), systems, problems: systems.flatMap(problemsOf) };
  }

  leading(system: string): boolean {
    return this.#systems.get(system)?.leading ?? false;
  }

  client(system: string): Client {
    return this.#system(system).client;
  }

  busy(): boolean {
    if (this.#started && this.cache.all().some(({ store }) => !store.synced && !store.missing)) return true;
    return [...this.#systems.values()].some((of) => of.busy);
  }

  queues(): { controller: string; ready: number; active: number; delayed: number }[] {
    return [...this.#systems.values()].flatMap((of) =>
      of.runners.map(({ controller, queue }) => ({
        controller: controller.name,
        ready: queue.length,
        active: queue.active,
        delayed: queue.delayed,
      })),
    );
  }

  /** Follows what the caches hold, and stands for election. */
  #begin(): void {
    const { clock, random, log } = this.#options;
    const ports = { client: this.#reader, clock, random, log };
    const { signal } = this.#reflecting;
    for (const { selection, store } of this.cache.all()) {
      const { resource } = selection;
      store.listenMissing((is) => {
        this.#missing.note(resource, is, this.#needing(resource));
        if (is) void this.definitions.follow();
      });
      this.#background.push(reflect(selection, store, { ...ports, definitions: this.definitions }, signal));
    }
    if (this.#ports.election !== undefined) this.#elect(this.#ports.election);
  }

  /** One Lease a system, or with shards one a shard. */
  #elect(election: Election): void {
    const systems = [...this.#systems.values()];
    const { signal } = this.#electing;
    const keeper = (election.shards ?? 1) > 1 ? this.#keeper(election, systems) : undefined;
    if (keeper !== undefined) this.#background.push(keeper.run(signal));
    for (const of of systems) this.#background.push(of.elect(election, signal, keeper));
  }

  #keeper(election: Election, systems: readonly ManagedSystem[]): ShardKeeper {
    const { namespace, prefix = "slipway", shards = 1, identity, client, times } = election;
    const { clock, random, log, metrics } = this.#options;
    const crew = crewOf(
      prefix,
      shards,
      systems.map(({ name }) => name),
    );
    return new ShardKeeper({
      ...{ client, clock, random, log, namespace, crew, shards, identity },
      ...(times === undefined ? {} : { times }),
      onChange: (shard, held) => {
        metrics?.leading(shardLease(crew, shard), held);
        for (const of of systems) of.follow();
      },
      drain: async (shard) => {
        await Promise.all(systems.map((of) => of.drain(shard)));
      },
    });
  }

  #system(name: string): ManagedSystem {
    const known = this.#systems.get(name);
    if (known !== undefined) return known;
    this.#mustNotRun();
    const made = new ManagedSystem(name, this.#ports);
    this.#systems.set(name, made);
    return made;
  }

  #mustNotRun(): void {
    if (this.#started || this.#stopping !== undefined)
      throw new Fault(
        "Bug",
        "manager",
        "it was started before; controllers and sources are added earlier, and a stopped manager stays so",
      );
  }

  #health(): SystemHealth[] {
    const since = (resource: Resource): number => this.#missing.since(resource) ?? this.#madeAt;
    return [...this.#systems.values()].map((of) => of.health(since));
  }

  /** The systems that need the kind. */
  #needing(resource: Resource): string[] {
    return [...this.#systems.values()].filter((of) => of.needs(resource)).map(({ name }) => name);
  }

  async #shutDown(): Promise<void> {
    const { clock, stopMs = STOP_MS } = this.#options;
    const reason = new DOMException("the manager stops", "AbortError");
    const systems = [...this.#systems.values()];
    for (const of of systems) of.abort(reason);
    const runners = systems.flatMap((of) => of.runners);
    const recorders = systems.flatMap((of) => of.recorders);
    await within(clock, stopMs, Promise.all(runners.map((r) => r.settled())));
    await within(clock, FLUSH_MS, Promise.all(recorders.map((r) => r.flush())));
    this.#electing.abort(reason);
    this.#reflecting.abort(reason);
    await Promise.all([...this.#background, this.definitions.follow()]);
    for (const runner of runners) runner.queue.close();
  }
}

/** Lets a manager see when a kind that is missing is defined. Without it such a kind is asked for every 30 s. For `rulesOf`. */
export const DEFINITIONS_ACCESS: Access = { resource: CustomResourceDefinition, verbs: ["list", "watch"] };

/** What a manager needs besides its controllers' access: its leases and its events. For `rulesOf`. */
export function runtimeAccess(leaderElection: { namespace: string } | false): Access[] {
  const events: Access = { resource: Event, verbs: ["create", "patch"] };
  if (leaderElection === false) return [events];
  return [
    events,
    { resource: Lease, verbs: ["get", "list", "create", "update", "delete"], namespace: leaderElection.namespace },
  ];
}
