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

export interface LeaderElection {
  namespace: string;
  /** Leases are called `<prefix>-<system>`; `slipway` unless said. */
  prefix?: string;
  /** Unique among replicas and restarts; random unless said. */
  identity?: string;
  times?: LeaseTimes;
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
  election: (LeaderElection & { identity: string; client: Client }) | undefined;
  isStarted(): boolean;
  isStopping(): boolean;
}

/** A reconcile that still runs so long after its deadline will never end. */
const STUCK_MS = 10 * 60_000;

/** The unit of leadership, and of waiting for kinds. */
export class ManagedSystem {
  readonly name: string;
  /** Its writes fail with `NotLeader` while the system is not led from here. */
  readonly client: Client;
  readonly leader: Leader | undefined;
  readonly runners: ControllerRunner[] = [];
  readonly recorders: BufferedRecorder[] = [];
  readonly #ports: SystemPorts;
  readonly #needs: Need[] = [];
  #synced = false;
  /** Set while its controllers work. */
  #working: AbortController | undefined;

  constructor(name: string, ports: SystemPorts) {
    this.name = name;
    this.#ports = ports;
    this.client = createClient(
      fencedTransport(ports.transport, () => this.leads, name),
      ports.clientOptions,
    );
    this.leader = ports.election && this.#candidate(ports.election);
  }

  /** Whether it is surely led from here. While stopping, what is already running may still finish its write under the lease. */
  get leads(): boolean {
    return this.#ports.isStarted() && (this.leader === undefined || this.leader.held());
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
    const client = declaredClient(this.client, accessOf(controller), controller.name);
    const ports = { client, cache, clock, random, events, log, metrics, reconcileMs, outgoing };
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
    this.#work();
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
    this.#working?.abort(reason);
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
      waiting: [...waiting.values()],
      problems: this.runners.flatMap((r) => r.stuck(STUCK_MS).map((key) => `${r.controller.name} hangs on ${key}`)),
    };
  }

  /** Starts its workers when its caches are filled and it leads. */
  #work(): void {
    if (!this.#synced || !this.leads) return;
    this.#working = new AbortController();
    for (const runner of this.runners) runner.work(this.#working.signal);
  }

  #candidate({ namespace, prefix = "slipway", identity, times, client }: NonNullable<SystemPorts["election"]>): Leader {
    const { clock, random, log, metrics } = this.#ports;
    const lease = { namespace, name: `${prefix}-${this.name}` };
    return new Leader({
      client,
      clock,
      random,
      log,
      lease,
      identity,
      ...(times === undefined ? {} : { times }),
      onChange: (leading) => {
        metrics?.leading(lease.name, leading);
        if (leading) this.#work();
        else this.abort(new Fault("NotLeader", `system ${this.name}`, "the lease is no longer held"));
      },
    });
  }
}
