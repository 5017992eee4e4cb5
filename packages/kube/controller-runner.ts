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
import { WorkQueue } from "./queue.ts";
import type { Change, Store } from "./store.ts";

export interface RunnerPorts {
  client: Client;
  cache: Cache;
  clock: Clock;
  random: Random;
  events: EventRecorder;
  log: Log;
  metrics: RuntimeMetrics | undefined;
  outgoing?: Outgoing | undefined;
  reconcileMs: number;
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
  readonly #inFlight = new Set<Promise<void>>();
  /** Keys whose reconcile outlived its deadline, with the time since when. */
  readonly #overdue = new Map<string, number>();
  /** Changes seen before all caches were filled: mapping them to keys may need those caches. */
  #early: (() => void)[] | undefined = [];
  #signal: AbortSignal | undefined;
  #busyWorkers = 0;
  #pumping = false;

  constructor(controller: Controller, ports: RunnerPorts) {
    this.controller = controller;
    this.#ports = ports;
    const { clock, random, metrics } = ports;
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

  /** Works until `signal` is aborted. May be called again afterwards; everything is then looked at once more. */
  work(signal: AbortSignal): void {
    this.#signal = signal;
    const early = this.#early;
    this.#early = undefined;
    if (early !== undefined) for (const replay of early) replay();
    else this.#lookAtEverything();
    const stop = this.controller.listen?.((ref) => this.queue.add(keyOf(ref), "change"));
    if (stop !== undefined) signal.addEventListener("abort", stop, { once: true });
    this.#pumpSoon();
  }

  get #reconcileMs(): number {
    return this.controller.reconcileMs ?? this.#ports.reconcileMs;
  }

  /** Resolves when no reconcile runs any more. */
  async settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
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

  #lookAtEverything(): void {
    for (const { source, store } of this.#sources)
      for (const object of store.values())
        this.#onChange(source, { type: "added", object, before: undefined, initial: true });
  }

  #onChange(source: Source, change: Change): void {
    // Keys that are the object's own need no cache and are deduplicated by the queue.
    if (this.#early !== undefined && source.keys !== undefined) this.#early.push(() => this.#enqueue(source, change));
    else this.#enqueue(source, change);
  }

  #enqueue(source: Source, { type, object, before, initial }: Change): void {
    try {
      if (type !== "deleted" && source.when?.(object, before) === false) return;
      const refs = source.keys?.(object, before, this.#ports.cache) ?? [refOf(object)];
      for (const ref of refs) this.queue.add(keyOf(ref), initial ? "resync" : "change");
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
    const signal = this.#signal;
    if (signal === undefined) return;
    const most = this.controller.workers ?? DEFAULT_WORKERS;
    while (!signal.aborted && this.#busyWorkers < most) {
      const key = this.queue.take();
      if (key === undefined) break;
      if (this.#ownWrites.behind(key)) {
        this.queue.done(key);
        this.queue.addAfter(key, CATCH_UP_MS);
        continue;
      }
      const run: Promise<void> = this.#run(key, signal).finally(() => this.#inFlight.delete(run));
      this.#inFlight.add(run);
    }
    this.#ports.metrics?.workers(this.controller.name, this.#busyWorkers, most);
  }

  /** Holds a worker and the key for one reconcile. Never rejects. */
  async #run(key: string, leading: AbortSignal): Promise<void> {
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
    const result = await this.#reconcile(key, limit.signal, leading, line);
    limit.signal.removeEventListener("abort", onAbort);
    limit.done();
    this.#overdue.delete(key);
    this.queue.done(key);
    freeWorker();
    this.#ports.metrics?.reconciled(this.controller.name, result, (clock.monotonic() - startedAt) / 1000);
  }

  async #reconcile(key: string, signal: AbortSignal, leading: AbortSignal, log: Log): Promise<Result> {
    const { client, cache, clock, random, events, outgoing } = this.#ports;
    try {
      const noting = this.#ownWrites.noting(boundClient(client, signal), key);
      const clean = <T>(value: T): T => (outgoing === undefined ? value : outgoing.clean(value));
      const context = { client: noting, cache, clock, random, events, log, clean, signal };
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
