/**
 * The controller runtime: controllers that are plain data, run over any way to a Kubernetes API.
 *
 * Promises what controller-runtime promises: level-triggered reconciles, never two at once for one key, retries with back-off,
 * caches filled before the first reconcile, one leading replica per system, and no write without a lease that is surely held.
 * Systems do not hold each other up: each works as soon as the kinds that it needs are listed.
 * Needs a `Transport`, a `Clock`, a `Random` and a `Log`; reads no wall clock and opens no socket by itself, so it runs in virtual
 * time. Knows nothing of Slipway's kinds, machines or providers.
 */
import { asFault, type Clock, Fault, type Log, type Random, uuid } from "@slipway/base";
import type { Cache } from "./cache.ts";
import type { Client } from "./client.ts";
import type { Access, Controller, Source } from "./controller.ts";
import { ControllerRunner } from "./controller-runner.ts";
import { Event, Lease } from "./core.ts";
import { accessOf, declaredClient } from "./declared-client.ts";
import { type BufferedRecorder, createEventRecorder } from "./event-recorder.ts";
import { fencedTransport } from "./fenced-transport.ts";
import { type Health, problemsOf, type SystemHealth, type Waiting } from "./health.ts";
import { Leader, type LeaseTimes } from "./leader.ts";
import { meteredTransport, type RuntimeMetrics } from "./metrics.ts";
import { kindName, MissingKinds } from "./missing-kinds.ts";
import type { Resource } from "./object.ts";
import type { Outgoing } from "./outgoing.ts";
import { TokenBucket } from "./rate-limit.ts";
import { reachedTransport } from "./reached-transport.ts";
import { reflect } from "./reflector.ts";
import { createClient } from "./rest-client.ts";
import { StoreCache, type Watched } from "./store-cache.ts";
import type { Transport } from "./transport.ts";

export interface LeaderElection {
  namespace: string;
  /** Leases are called `<prefix>-<system>`; `slipway` unless said. */
  prefix?: string;
  /** Unique among replicas and restarts; random unless said. */
  identity?: string;
  times?: LeaseTimes;
}

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
const FLUSH_MS = 5_000;
/** A reconcile that still runs so long after its deadline will never end. */
const STUCK_MS = 10 * 60_000;

/** What one source follows. */
interface Need {
  watched: Watched;
  optional: boolean;
}

/** The unit of leadership, and of waiting for kinds. */
interface System {
  name: string;
  client: Client;
  leader: Leader | undefined;
  runners: ControllerRunner[];
  needs: Need[];
  synced: boolean;
  /** Set while its controllers work. */
  working: AbortController | undefined;
}

/** A manager with its client and caches. Nothing is requested before it is started. */
export function createManager(options: ManagerOptions): Manager {
  const { clock, random, log, metrics, leaderElection } = options;
  let reached = false;
  const noting = reachedTransport(options.transport, () => {
    reached = true;
  });
  const transport = metrics === undefined ? noting : meteredTransport(noting, metrics);
  const limits = options.limits === undefined ? {} : { limits: new TokenBucket(clock, options.limits) };
  const { outgoing } = options;
  const clientPorts = { clock, random, log, fieldManager: "slipway", ...(outgoing && { outgoing }) };
  const reader = createClient(transport, { ...clientPorts, ...limits });
  // A lease must not wait behind other requests for its turn.
  const leaseClient = createClient(transport, clientPorts);
  const identity = leaderElection === false ? "" : (leaderElection.identity ?? `slipway_${uuid(random)}`);
  const cache = new StoreCache();
  const systems = new Map<string, System>();
  const shared: Need[] = [];
  const missing = new MissingKinds({ clock, log, remedy: options.remedy });
  const madeAt = clock.now();
  const allReady = Promise.withResolvers<void>();
  const recorders: BufferedRecorder[] = [];
  const background: Promise<void>[] = [];
  const reflecting = new AbortController();
  const electing = new AbortController();
  let started = false;
  let stopping: Promise<void> | undefined;

  function system(name: string): System {
    const known = systems.get(name);
    if (known !== undefined) return known;
    mustNotRun();
    const client = createClient(
      fencedTransport(transport, () => leads(name), name),
      { ...clientPorts, ...limits },
    );
    const made: System = {
      name,
      client,
      leader: undefined,
      runners: [],
      needs: [],
      synced: false,
      working: undefined,
    };
    if (leaderElection !== false) made.leader = leaderOf(made, leaderElection);
    systems.set(name, made);
    return made;
  }

  function leaderOf(of: System, election: LeaderElection): Leader {
    const lease = { namespace: election.namespace, name: `${election.prefix ?? "slipway"}-${of.name}` };
    return new Leader({
      client: leaseClient,
      clock,
      random,
      log,
      lease,
      identity,
      ...(election.times === undefined ? {} : { times: election.times }),
      onChange: (leading) => {
        metrics?.leading(lease.name, leading);
        if (leading) work(of);
        else of.working?.abort(new Fault("NotLeader", `system ${of.name}`, "the lease is no longer held"));
      },
    });
  }

  /** Starts the system's workers when its caches are filled and it leads. */
  function work(of: System): void {
    if (!of.synced || !leads(of.name)) return;
    of.working = new AbortController();
    for (const runner of of.runners) runner.work(of.working.signal);
  }

  function leads(name: string): boolean {
    const of = systems.get(name);
    if (of === undefined || !started) return false;
    // While stopping, what is already running may still finish its write under the lease.
    return leaderElection === false ? true : of.leader!.held();
  }

  function mustNotRun(): void {
    if (started || stopping !== undefined)
      throw new Fault(
        "Bug",
        "manager",
        "it was started before; controllers and sources are added earlier, and a stopped manager stays so",
      );
  }

  /** Resolves when the system has what it needs. */
  async function fill(of: System): Promise<void> {
    await filled(of.needs);
    if (stopping !== undefined) return;
    of.synced = true;
    work(of);
  }

  /** Resolves when the system has begun, or waits for a kind that is missing. */
  async function begun(of: System, filling: Promise<void>): Promise<void> {
    filling.catch((error: unknown) =>
      log.error({ system: of.name, error: asFault(error, of.name) }, "a system failed"),
    );
    await answered(of.needs);
    if (of.needs.every(isFilled)) await filling;
  }

  function systemHealth(of: System): SystemHealth {
    const waiting = new Map<string, Waiting>();
    for (const { watched, optional } of of.needs) {
      const { resource } = watched.selection;
      if (watched.store.synced && !watched.store.missing) continue;
      const kind = kindName(resource);
      const known = waiting.get(kind);
      waiting.set(kind, {
        kind,
        since: missing.since(resource) ?? madeAt,
        missing: watched.store.missing || known?.missing === true,
        optional: optional && known?.optional !== false,
      });
    }
    return {
      system: of.name,
      ready: [...waiting.values()].every((kind) => kind.optional && kind.missing),
      leading: manager.leading(of.name),
      waiting: [...waiting.values()],
      problems: of.runners.flatMap((r) => r.stuck(STUCK_MS).map((key) => `${r.controller.name} hangs on ${key}`)),
    };
  }

  const systemsHealth = (): SystemHealth[] => [...systems.values()].map(systemHealth);

  /** The systems that need the kind. */
  function needing(resource: Resource): string[] {
    const needs = (of: System): boolean =>
      of.needs.some(
        ({ watched, optional }) => !optional && kindName(watched.selection.resource) === kindName(resource),
      );
    return [...systems.values()].filter(needs).map(({ name }) => name);
  }

  async function shutDown(): Promise<void> {
    const reason = new DOMException("the manager stops", "AbortError");
    for (const of of systems.values()) of.working?.abort(reason);
    const runners = [...systems.values()].flatMap((of) => of.runners);
    await within(clock, options.stopMs ?? STOP_MS, Promise.all(runners.map((r) => r.settled())));
    await within(clock, FLUSH_MS, Promise.all(recorders.map((r) => r.flush())));
    electing.abort(reason);
    reflecting.abort(reason);
    await Promise.all(background);
    for (const runner of runners) runner.queue.close();
  }

  const manager: Manager = {
    cache,

    add(controller) {
      mustNotRun();
      if (options.systems !== undefined && !options.systems.includes(controller.system)) return;
      const of = system(controller.system);
      const events = createEventRecorder({
        client: of.client,
        clock,
        random,
        log,
        component: controller.name,
        ...(outgoing && { redact: (text: string) => outgoing.line(text) }),
      });
      recorders.push(events);
      const client = declaredClient(of.client, accessOf(controller), controller.name);
      const reconcileMs = options.reconcileMs ?? RECONCILE_MS;
      const runner = new ControllerRunner(controller, {
        client,
        cache,
        clock,
        random,
        events,
        log,
        metrics,
        reconcileMs,
        outgoing,
      });
      for (const source of controller.sources) {
        const need = needOf(cache, source);
        of.needs.push(need);
        runner.attach(source, need.watched.store);
      }
      of.runners.push(runner);
    },

    watch(source) {
      mustNotRun();
      shared.push(needOf(cache, source));
    },

    async start(signal) {
      mustNotRun();
      started = true;
      const halted = Promise.withResolvers<void>();
      reflecting.signal.addEventListener("abort", () => halted.resolve(), { once: true });
      const onAbort = (): void => void manager.stop();
      signal?.addEventListener("abort", onAbort, { once: true });
      reflecting.signal.addEventListener("abort", () => signal?.removeEventListener("abort", onAbort), { once: true });
      halted.promise.then(allReady.resolve);
      for (const { selection, store } of cache.all()) {
        store.listenMissing((is) => missing.note(selection.resource, is, needing(selection.resource)));
        background.push(reflect(selection, store, { client: reader, clock, random, log }, reflecting.signal));
      }
      for (const of of systems.values()) if (of.leader) background.push(of.leader.run(electing.signal));
      if (signal?.aborted) onAbort();
      const filling = [...systems.values()].map((of) => ({ of, all: fill(of) }));
      Promise.all([...filling.map(({ all }) => all), filled(shared)]).then(() => allReady.resolve(), allReady.reject);
      // Who does not wait for it learns of a failure from `start` or the log.
      allReady.promise.catch(() => {});
      const begin = [...filling.map(({ of, all }) => begun(of, all)), answered(shared)];
      await Promise.race([Promise.all(begin), halted.promise]);
    },

    whenReady: () => allReady.promise,

    stop() {
      stopping ??= shutDown();
      return stopping;
    },

    ready: () => started && stopping === undefined && systemsHealth().every((of) => of.ready) && shared.every(isFilled),

    health() {
      const health = systemsHealth();
      const live = health.every(({ problems }) => problems.length === 0);
      return { live, reached, ready: manager.ready(), systems: health, problems: health.flatMap(problemsOf) };
    },

    leading: (name) => stopping === undefined && leads(name),
    client: (name) => system(name).client,

    busy() {
      if (started && cache.all().some(({ store }) => !store.synced && !store.missing)) return true;
      return [...systems.values()].some((of) => of.synced && leads(of.name) && of.runners.some((r) => r.busy));
    },

    queues: () =>
      [...systems.values()].flatMap((of) =>
        of.runners.map(({ controller, queue }) => ({
          controller: controller.name,
          ready: queue.length,
          active: queue.active,
          delayed: queue.delayed,
        })),
      ),
  };
  metrics?.observeSystems(systemsHealth);
  return manager;
}

/** What a manager needs besides its controllers' access: its leases and its events. For `rulesOf`. */
export function runtimeAccess(leaderElection: { namespace: string } | false): Access[] {
  const events: Access = { resource: Event, verbs: ["create", "patch"] };
  if (leaderElection === false) return [events];
  return [events, { resource: Lease, verbs: ["get", "create", "update"], namespace: leaderElection.namespace }];
}

function needOf(cache: StoreCache, source: Source): Need {
  const { indexes, optional = false } = source;
  return { watched: cache.watched(selectionOf(source), indexes, optional), optional };
}

/** Whether a controller can work with it as it is. */
function isFilled({ watched: { store }, optional }: Need): boolean {
  return store.synced || (optional && store.missing);
}

async function filled(needs: readonly Need[]): Promise<void> {
  await Promise.all(
    needs.map(({ watched: { store }, optional }) => (optional ? store.whenAnswered() : store.whenSynced())),
  );
}

/** Resolves when the API has answered for each: with a list, or that it does not serve the kind. */
async function answered(needs: readonly Need[]): Promise<void> {
  await Promise.all(needs.map(({ watched: { store } }) => store.whenAnswered()));
}

function selectionOf(source: Source) {
  const { resource, namespace, labelSelector, fieldSelector } = source;
  return {
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}

/** Waits for the work, but no longer than `ms`. */
async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const timeUp = Promise.withResolvers<void>();
  const timer = clock.after(ms, timeUp.resolve);
  await Promise.race([work, timeUp.promise]);
  timer.cancel();
}
