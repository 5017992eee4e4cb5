import { asFault, type Clock, deadline, Fault, isFault, type Log, type Random } from "@slipway/base";
import { boundClient } from "./bound-client.ts";
import type { Cache } from "./cache.ts";
import type { Client } from "./client.ts";
import type { Controller, Source } from "./controller.ts";
import type { EventRecorder } from "./events.ts";
import type { Result, RuntimeMetrics } from "./metrics.ts";
import { keyOf, refFromKey, refOf } from "./object.ts";
import type { Outgoing } from "./outgoing.ts";
import { OwnWrites } from "./own-writes.ts";
import { type Priority, WorkQueue } from "./queue.ts";
import { shardOf } from "./shard-of.ts";
import type { Change, Store } from "./store.ts";

export interface RunnerPorts {
  /** What is written with it goes out under the shard's lease. */
  client: (shard: number) => Client;
  /** Over how many shards work is shared out. */
  shards: number;
  cache: Cache;
  clock: Clock;
  random: Random;
  events: EventRecorder;
  log: Log;
  metrics: RuntimeMetrics | undefined;
  outgoing?: Outgoing | undefined;
  reconcileMs: number;
}

interface Attempt {
  client: Client;
  signal: AbortSignal;
  /** Aborted when the shard's lease is lost. */
  leading: AbortSignal;
  log: Log;
}

const DEFAULT_WORKERS = 8;
const BACK_OFF = { baseMs: 5, maxMs: 5 * 60_000, jitter: 0.1 };

/** Until a key is tried again whose reconcile was cut off; long enough for a lost lease to be noticed. */
const CUT_OFF_MS = 1_000;
/** A key whose last writes the cache does not show yet is looked at again after this, or when they arrive. */
const CATCH_UP_MS = 100;

/**
 * Runs one controller: turns changes into keys, keys into reconciles, and outcomes into delays. The same key never runs twice at
 * once, not even when a reconcile ignores its deadline: its worker is freed then, its key stays taken until it ends.
 */
export class ControllerRunner {
  readonly controller: Controller;
  readonly queue: WorkQueue;
  readonly #ports: RunnerPorts;
  readonly #sources: { source: Source; store: Store }[] = [];
  readonly #ownWrites: OwnWrites;
  /** Reconciles that run, each with its shard. */
  readonly #inFlight = new Map<Promise<void>, number>();
  /** Where all keys are together; undefined: each is in the shard of its owner. */
  readonly #onlyShard: number | undefined;
  readonly #clients = new Map<number, Client>();
  /** The shards that are worked on, each until its signal is aborted. */
  readonly #turns = new Map<number, AbortSignal>();
  /** Keys whose reconcile outlived its deadline, with the time since when. */
  readonly #overdue = new Map<string, number>();
  #busyWorkers = 0;
  #pumping = false;
  /** Ends listening elsewhere. */
  #unlisten: (() => void) | undefined;

  constructor(controller: Controller, ports: RunnerPorts) {
    this.controller = controller;
    this.#ports = ports;
    const { clock, random, metrics, shards } = ports;
    if (controller.owner === undefined || shards === 1) this.#onlyShard = shardOf(controller.system, shards);
    const cached = controller.sources.map(({ resource }) => resource);
    this.#ownWrites = new OwnWrites(clock, ports.cache, cached);
    const hooks = metrics?.queue(controller.name);
    this.queue = new WorkQueue({
      clock,
      random,
      backOff: BACK_OFF,
      onReady: () => this.#pumpSoon(),
      ...(hooks === undefined ? {} : { hooks }),
    });
    metrics?.observeQueue(
      controller.name,
      () => this.queue.length,
      () => this.queue.delayed,
    );
  }

  attach(source: Source, store: Store): void {
    this.#sources.push({ source, store });
    store.listen((change) => this.#onChange(source, change));
  }

  /** Works on a shard until `signal` is aborted. May be called again afterwards; everything in it is then looked at once more. */
  work(shard: number, signal: AbortSignal): void {
    if (this.#onlyShard !== undefined && this.#onlyShard !== shard) return;
    const isFirst = this.#turns.size === 0;
    this.#turns.set(shard, signal);
    signal.addEventListener("abort", () => this.#end(shard, signal), { once: true });
    if (this.#ports.shards === 1) this.#look((key) => this.queue.add(key, "resync"));
    else this.#lookSoon(shard);
    if (isFirst) this.#unlisten = this.controller.listen?.((ref) => this.#add(keyOf(ref), "change"));
    this.#pumpSoon();
  }

  /** Begins nothing more in a shard. What runs may end, as long as its signal holds. */
  leave(shard: number): void {
    const signal = this.#turns.get(shard);
    if (signal !== undefined) this.#end(shard, signal);
  }

  get #reconcileMs(): number {
    return this.controller.reconcileMs ?? this.#ports.reconcileMs;
  }

  /** Resolves when no reconcile runs any more: at all, or in a shard. */
  async settled(shard?: number): Promise<void> {
    for (;;) {
      const running = [...this.#inFlight].flatMap(([run, its]) => (shard === undefined || its === shard ? [run] : []));
      if (running.length === 0) return;
      await Promise.all(running);
    }
  }

  /** Whether something is being done or can be done now. */
  get busy(): boolean {
    return this.queue.length > 0 || this.queue.active > 0;
  }

  /** Keys whose reconcile has been overdue for longer than `ms`. */
  stuck(ms: number): string[] {
    const now = this.#ports.clock.monotonic();
    return [...this.#overdue].filter(([, since]) => now - since > ms).map(([key]) => key);
  }

  #end(shard: number, signal: AbortSignal): void {
    if (this.#turns.get(shard) !== signal) return;
    this.#turns.delete(shard);
    if (this.controller.left !== undefined) void this.settled(shard).then(() => this.#dropSoon(shard));
    if (this.#turns.size > 0) return;
    this.#unlisten?.();
    this.#unlisten = undefined;
  }

  /** Drops what is remembered of the keys of shards that are worked on elsewhere from now on. */
  readonly #dropSoon = together((gone) => {
    for (const taken of this.#turns.keys()) gone.delete(taken);
    if (gone.size > 0) this.#drop(gone);
  });

  #drop(shards: ReadonlySet<number>): void {
    const own = this.#sources.filter(({ source }) => source.keys === undefined);
    for (const ref of own.flatMap(({ store }) => [...store.values()].map(refOf)))
      if (shards.has(this.#shardOf(keyOf(ref)))) this.controller.left!(ref, this.#ports.cache);
  }

  #shardOf(key: string): number {
    const { cache, shards } = this.#ports;
    return this.#onlyShard ?? shardOf(this.controller.owner!(refFromKey(key), cache), shards);
  }

  readonly #lookSoon = together((taken) =>
    this.#look((key) => {
      if (taken.has(this.#shardOf(key))) this.#add(key, "resync");
    }),
  );

  /** Adds the keys of every object, as if it were seen for the first time. */
  #look(add: (key: string) => void): void {
    for (const { source, store } of this.#sources)
      for (const object of store.values())
        this.#keysOf(source, { type: "added", object, before: undefined, initial: true }, add);
  }

  #onChange(source: Source, change: Change): void {
    // Whoever begins looks at everything: nothing is kept for later, however long that takes.
    if (this.#turns.size === 0) return;
    const isOwnEnd = change.type === "deleted" && source.keys === undefined;
    this.#keysOf(source, change, (key) => {
      // An object that is gone no longer says whose its key was.
      if (isOwnEnd && this.controller.left !== undefined) this.queue.add(key, "change");
      else this.#add(key, change.initial ? "resync" : "change");
    });
  }

  /** Adds a key, unless another replica works on it. */
  #add(key: string, priority: Priority): void {
    if (this.#ports.shards === 1 || this.#turns.has(this.#shardOf(key))) this.queue.add(key, priority);
  }

  #keysOf(source: Source, { type, object, before }: Change, add: (key: string) => void): void {
    try {
      const isChange = type === "updated" && before?.metadata.uid === object.metadata.uid;
      if (isChange && source.when?.(object, before!) === false) return;
      const refs = source.keys?.(object, before, this.#ports.cache) ?? [refOf(object)];
      for (const ref of refs) add(keyOf(ref));
    } catch (error) {
      const on = `${object.kind}/${keyOf(refOf(object))}`;
      this.#ports.log.error({ on, error: asFault(error, on) }, "a change could not be mapped to keys");
    }
  }

  /** Workers start a microtask later: the change that woke them reaches every listener first. */
  #pumpSoon(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    queueMicrotask(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    const most = this.controller.workers ?? DEFAULT_WORKERS;
    while (this.#turns.size > 0 && this.#busyWorkers < most) {
      const key = this.queue.take();
      if (key === undefined) break;
      const shard = this.#shardOf(key);
      const signal = this.#turns.get(shard);
      if (signal === undefined) {
        // Whoever works on the shard now looks at it by itself.
        this.controller.left?.(refFromKey(key), this.#ports.cache);
        this.queue.done(key);
        this.queue.forget(key);
        continue;
      }
      if (this.#ownWrites.behind(key)) {
        this.queue.done(key);
        this.queue.addAfter(key, CATCH_UP_MS);
        continue;
      }
      const run: Promise<void> = this.#run(key, shard, signal).finally(() => this.#inFlight.delete(run));
      this.#inFlight.set(run, shard);
    }
    this.#ports.metrics?.workers(this.controller.name, this.#busyWorkers, most);
  }

  #client(shard: number): Client {
    const known = this.#clients.get(shard);
    if (known !== undefined) return known;
    const made = this.#ports.client(shard);
    this.#clients.set(shard, made);
    return made;
  }

  /** Holds a worker and the key for one reconcile. Never rejects. */
  async #run(key: string, shard: number, leading: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#ports;
    const reconcileMs = this.#reconcileMs;
    const startedAt = clock.monotonic();
    this.#busyWorkers++;
    let holdsWorker = true;
    const freeWorker = (): void => {
      if (!holdsWorker) return;
      holdsWorker = false;
      this.#busyWorkers--;
      this.#pumpSoon();
    };
    const reconcile = random
      .int(2 ** 32)
      .toString(16)
      .padStart(8, "0");
    const line = log.child({ controller: this.controller.name, key, reconcile });
    const limit = deadline(clock, reconcileMs, leading);
    const onAbort = (): void => {
      if (leading.aborted) return;
      this.#overdue.set(key, clock.monotonic());
      line.error({ afterMs: reconcileMs }, "a reconcile did not end in time and was aborted");
      freeWorker();
    };
    limit.signal.addEventListener("abort", onAbort, { once: true });
    const result = await this.#reconcile(key, {
      client: this.#client(shard),
      signal: limit.signal,
      leading,
      log: line,
    });
    limit.signal.removeEventListener("abort", onAbort);
    limit.done();
    this.#overdue.delete(key);
    this.queue.done(key);
    freeWorker();
    this.#ports.metrics?.reconciled(this.controller.name, result, (clock.monotonic() - startedAt) / 1000);
  }

  async #reconcile(key: string, { client, signal, leading, log }: Attempt): Promise<Result> {
    const { cache, clock, random, events, outgoing } = this.#ports;
    try {
      const noting = this.#ownWrites.noting(boundClient(client, signal), key);
      const clean = <T>(value: T): T => (outgoing === undefined ? value : outgoing.clean(value));
      const isClean = (value: object): boolean => outgoing === undefined || outgoing.isClean?.(value) === true;
      const context = { client: noting, cache, clock, random, events, log, clean, isClean, signal };
      const outcome = await this.controller.reconcile(refFromKey(key), context);
      this.queue.forget(key);
      if (!("againAfterMs" in outcome)) return "success";
      this.queue.addAfter(key, outcome.againAfterMs);
      return "requeue_after";
    } catch (error) {
      return this.#failed(key, this.#meaning(error, key, signal, leading), log);
    }
  }

  /** Undefined: the work was cut off because the manager stops or the lease is lost. */
  #meaning(error: unknown, key: string, signal: AbortSignal, leading: AbortSignal): Fault | undefined {
    if (leading.aborted || isFault(error, "NotLeader")) return undefined;
    const on = `${this.controller.name} ${key}`;
    if (!signal.aborted) return asFault(error, on);
    return new Fault("Timeout", on, `not finished within ${this.#reconcileMs / 1000} s`, { cause: error });
  }

  #failed(key: string, fault: Fault | undefined, log: Log): Result {
    if (fault === undefined) {
      this.queue.addAfter(key, CUT_OFF_MS);
      return "aborted";
    }
    if (!fault.retryable) {
      this.queue.forget(key);
      log.error({ code: fault.code, error: fault.advice }, "waiting for a change of the object");
      return "terminal_error";
    }
    const againMs = Math.round(this.queue.retry(key, fault.retryAfterMs));
    const fields = { code: fault.code, error: fault.advice, againMs };
    // A lost race is everyday life under optimistic locking.
    if (fault.code === "Conflict") log.debug(fields, "trying again");
    else if (fault.cause instanceof Error && fault.code === "Internal")
      log.error({ ...fields, stack: fault.cause.stack }, "trying again");
    else log.warn(fields, "trying again");
    return "error";
  }
}

/** Acts once for all shards that are named at one time: each act goes through all objects. */
function together(act: (shards: Set<number>) => void): (shard: number) => void {
  let named: Set<number> | undefined;
  return (shard) => {
    if (named !== undefined) {
      named.add(shard);
      return;
    }
    const shards = new Set([shard]);
    named = shards;
    queueMicrotask(() => {
      named = undefined;
      act(shards);
    });
  };
}
