import { asFault, type Clock, Fault, type Log, type Random } from "@slipway/base";
import type { Client } from "./client.ts";
import type { Controller } from "./controller.ts";
import { ControllerRunner } from "./controller-runner.ts";
import { accessOf, declaredClient } from "./declared-client.ts";
import { type BufferedRecorder, createEventRecorder } from "./event-recorder.ts";
import { fencedTransport } from "./fenced-transport.ts";
import type { SystemHealth, Waiting } from "./health.ts";
import { Leader, type LeaseTimes } from "./leader.ts";
import type { RuntimeMetrics } from "./metrics.ts";
import { kindName } from "./missing-kinds.ts";
import { answered, filled, isFilled, type Need, needOf } from "./needs.ts";
import type { Resource } from "./object.ts";
import type { Outgoing } from "./outgoing.ts";
import { type ClientOptions, createClient } from "./rest-client.ts";
import type { StoreCache } from "./store-cache.ts";
import type { Transport } from "./transport.ts";
import { within } from "./within.ts";

export interface LeaderElection {
  namespace: string;
  /** Leases are called `<prefix>-<system>`; `slipway` unless said. */
  prefix?: string;
  /** Over how many shards the work of all systems is shared out among replicas; 1, unless said: each system is led by one of them. */
  shards?: number;
  /** Unique among replicas and restarts; random unless said. */
  identity?: string;
  times?: LeaseTimes;
}

export interface Election extends LeaderElection {
  identity: string;
  client: Client;
}

/** What the systems of a process share. */
export interface SystemPorts {
  transport: Transport;
  clientOptions: ClientOptions;
  cache: StoreCache;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: RuntimeMetrics | undefined;
  outgoing: Outgoing | undefined;
  reconcileMs: number;
  /** How the process stands for election; undefined: it leads every system. `client`: for leases alone. */
  election: Election | undefined;
  isStarted(): boolean;
  isStopping(): boolean;
}

/** The part of a crew's shards that this process holds. */
export interface Shards {
  /** `ShardKeeperOptions.crew` */
  crew: string;
  /** Whether the shard's Lease is surely held at this very moment. */
  held(shard: number): boolean;
  /** Whether the shard is being given away: nothing more begins in it. */
  isGiven(shard: number): boolean;
}

/** The crew's own times, on the Lease of each system: it changes hands only when the number of shards or the systems do. */
const CREW_TIMES: LeaseTimes = { leaseMs: 30_000, renewMs: 20_000, retryMs: 5_000 };
/** How long a shard that is given away waits for its reconciles, and for those that it then aborts. */
const DRAIN_MS = 30_000;
/** How long events that were not written yet are waited for. */
export const FLUSH_MS = 5_000;
/** A reconcile that still runs so long after its deadline will never end. */
const STUCK_MS = 10 * 60_000;

/** The unit of leadership, and of waiting for kinds. */
export class ManagedSystem {
  readonly name: string;
  /** Its writes fail with `NotLeader` while the system is not led from here. */
  readonly client: Client;
  readonly runners: ControllerRunner[] = [];
  readonly recorders: BufferedRecorder[] = [];
  readonly #ports: SystemPorts;
  readonly #needs: Need[] = [];
  readonly #shards: number;
  /** The shards whose work goes on. */
  readonly #working = new Map<number, AbortController>();
  readonly #clients = new Map<number, Client>();
  #synced = false;
  /** Who holds the system's Lease: this process, or with shards its whole crew. */
  #leader: Leader | undefined;
  #crew: Shards | undefined;

  constructor(name: string, ports: SystemPorts) {
    this.name = name;
    this.#ports = ports;
    this.#shards = ports.election?.shards ?? 1;
    this.client = this.#clientWhile(() => this.leads);
  }

  /** Stands for election until `signal` is aborted; with `crew`, as one of it. */
  async elect(election: Election, signal: AbortSignal, crew?: Shards): Promise<void> {
    this.#crew = crew;
    this.#leader = this.#candidate(election);
    await this.#leader.run(signal);
  }

  /** Whether it is surely led from here. While stopping, what is already running may still finish its write under the lease. */
  get leads(): boolean {
    return this.#isLed && this.#held() > 0;
  }

  get #isLed(): boolean {
    const { isStarted, election } = this.#ports;
    return isStarted() && (election === undefined || this.#leader?.held() === true);
  }

  /** How many shards are held. */
  #held(): number {
    if (this.#crew === undefined) return 1;
    let count = 0;
    for (let shard = 0; shard < this.#shards; shard++) if (this.#crew.held(shard)) count++;
    return count;
  }

  #leadsIn(shard: number): boolean {
    return this.#isLed && (this.#crew === undefined || this.#crew.held(shard));
  }

  #clientWhile(isHeld: () => boolean): Client {
    const { transport, clientOptions } = this.#ports;
    return createClient(fencedTransport(transport, isHeld, this.name), clientOptions);
  }

  get leading(): boolean {
    return this.leads && !this.#ports.isStopping();
  }

  get busy(): boolean {
    return this.#synced && this.leads && this.runners.some((runner) => runner.busy);
  }

  add(controller: Controller): void {
    const { cache, clock, random, log, metrics, outgoing, reconcileMs } = this.#ports;
    const events = createEventRecorder({
      client: this.client,
      clock,
      random,
      log,
      component: controller.name,
      ...(outgoing && { redact: (text: string) => outgoing.line(text) }),
      ...(metrics && { onDropped: (count: number) => metrics.eventsDropped(controller.name, count) }),
    });
    this.recorders.push(events);
    const client = (shard: number): Client =>
      declaredClient(this.#clientIn(shard), accessOf(controller), controller.name);
    const shards = this.#shards;
    const ports = { client, shards, cache, clock, random, events, log, metrics, reconcileMs, outgoing };
    const runner = new ControllerRunner(controller, ports);
    for (const source of controller.sources) {
      const need = needOf(cache, source);
      this.#needs.push(need);
      runner.attach(source, need.watched.store);
    }
    this.runners.push(runner);
  }

  /** Resolves when the system has what it needs. */
  async fill(): Promise<void> {
    await filled(this.#needs);
    if (this.#ports.isStopping()) return;
    this.#synced = true;
    this.follow();
  }

  /** Resolves when the system has begun, or waits for a kind that is missing. `filling`: what `fill` gave. */
  async begun(filling: Promise<void>): Promise<void> {
    const { log } = this.#ports;
    filling.catch((error: unknown) =>
      log.error({ system: this.name, error: asFault(error, this.name) }, "a system failed"),
    );
    await answered(this.#needs);
    if (this.#needs.every(isFilled)) await filling;
  }

  /** Ends its reconciles. */
  abort(reason: unknown): void {
    for (const working of this.#working.values()) working.abort(reason);
    this.#working.clear();
  }

  /** Works on the shards that are held, and on no others. Called whenever a Lease is taken or lost. */
  follow(): void {
    const lost = new Fault("NotLeader", `system ${this.name}`, "the lease is no longer held");
    for (let shard = 0; shard < this.#shards; shard++) {
      const working = this.#working.get(shard);
      const isHeld = this.#leadsIn(shard);
      if (working !== undefined && !isHeld) {
        this.#working.delete(shard);
        working.abort(lost);
      }
      if (working === undefined && isHeld) this.#work(shard);
    }
  }

  /** Ends the work in a shard that is given away: resolves when no reconcile runs there any more, or those that do have had their time. */
  async drain(shard: number): Promise<void> {
    const { clock } = this.#ports;
    for (const runner of this.runners) runner.leave(shard);
    const settled = (): Promise<unknown> => Promise.all(this.runners.map((runner) => runner.settled(shard)));
    await within(clock, DRAIN_MS, settled());
    this.#working.get(shard)?.abort(new Fault("NotLeader", `system ${this.name}`, "the shard is given away"));
    await within(clock, DRAIN_MS, settled());
    await within(clock, FLUSH_MS, Promise.all(this.recorders.map((recorder) => recorder.flush())));
  }

  /** Whether it does not work without the kind. */
  needs(resource: Resource): boolean {
    const kind = kindName(resource);
    return this.#needs.some(({ watched, optional }) => !optional && kindName(watched.selection.resource) === kind);
  }

  /** `since`: when it began to wait for a kind, in ms since the epoch. */
  health(since: (resource: Resource) => number): SystemHealth {
    const waiting = new Map<string, Waiting>();
    for (const { watched, optional } of this.#needs) {
      const { resource } = watched.selection;
      if (watched.store.synced && !watched.store.missing) continue;
      const kind = kindName(resource);
      const known = waiting.get(kind);
      waiting.set(kind, {
        kind,
        since: since(resource),
        missing: watched.store.missing || known?.missing === true,
        optional: optional && known?.optional !== false,
      });
    }
    return {
      system: this.name,
      ready: [...waiting.values()].every((kind) => kind.optional && kind.missing),
      leading: this.leading,
      shards: { held: this.leading ? this.#held() : 0, of: this.#shards },
      waiting: [...waiting.values()],
      problems: this.runners.flatMap((r) => r.stuck(STUCK_MS).map((key) => `${r.controller.name} hangs on ${key}`)),
    };
  }

  #work(shard: number): void {
    if (!this.#synced || this.#crew?.isGiven(shard) === true || this.#ports.isStopping()) return;
    const working = new AbortController();
    this.#working.set(shard, working);
    for (const runner of this.runners) runner.work(shard, working.signal);
  }

  /** Its client in a shard. Controllers share it. */
  #clientIn(shard: number): Client {
    if (this.#shards === 1) return this.client;
    const known = this.#clients.get(shard);
    if (known !== undefined) return known;
    const made = this.#clientWhile(() => this.#leadsIn(shard));
    this.#clients.set(shard, made);
    return made;
  }

  #candidate({ namespace, prefix = "slipway", identity, times, client }: Election): Leader {
    const { clock, random, log, metrics } = this.#ports;
    const lease = { namespace, name: `${prefix}-${this.name}` };
    const own = times === undefined ? {} : { times };
    return new Leader({
      ...{ client, clock, random, log, lease },
      ...(this.#crew === undefined
        ? { identity, ...own }
        : { identity: this.#crew.crew, shared: true, times: CREW_TIMES }),
      onChange: (leading) => {
        metrics?.leading(lease.name, leading);
        this.follow();
      },
    });
  }
}
