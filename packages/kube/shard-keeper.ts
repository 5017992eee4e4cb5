import { asFault, type Clock, type Log, type Random, rfc3339Micro } from "@slipway/base";
import type { Client } from "./client.ts";
import { Lease } from "./core.ts";
import { LEASE_TIMES, Leader, type LeaseTimes, type SeenLease } from "./leader.ts";
import { hashOf } from "./shard-of.ts";
import { planShards } from "./shard-plan.ts";

/** On the Leases of a crew and of its replicas. */
export const CREW_LABEL = "slipway.dev/crew";
/** A replica's Lease that nobody renewed for so many lease durations is deleted. */
const FORGOTTEN = 10;

/** The name of a crew: replicas with another number of shards, or other systems, are none of it. Prefix of its Leases' names. */
export function crewOf(prefix: string, shards: number, systems: readonly string[]): string {
  const bits = hashOf([shards, ...systems.toSorted()].join(" "));
  return `${prefix}-${bits.toString(16).padStart(8, "0")}`;
}

/** The name of a shard's Lease. */
export function shardLease(crew: string, shard: number): string {
  return `${crew}-shard-${shard}`;
}

export interface ShardKeeperOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
  namespace: string;
  /** `crewOf` */
  crew: string;
  shards: number;
  /** Unique among all replicas and restarts. */
  identity: string;
  times?: LeaseTimes;
  /** Called when a shard's Lease is held, and when it is lost or given back. Must not throw. */
  onChange: (shard: number, held: boolean) => void;
  /** Before a Lease is given back: resolves when no work of the shard runs here any more. Must not reject. */
  drain: (shard: number) => Promise<void>;
}

/** A shard that this replica stands for, or holds. */
interface Turn {
  leader: Leader;
  stop: AbortController;
  ended: Promise<void>;
  isGiven: boolean;
}

/**
 * One replica's part of a crew's shards. Replicas find each other by a Lease each; every one of them plans who should hold what
 * (`planShards`), stands for what it should hold, and gives away what it should not. Plans may differ for a while: who may work is decided
 * by each shard's own Lease alone, by the rules of leader election (`Leader`).
 */
export class ShardKeeper {
  readonly #o: ShardKeeperOptions;
  readonly #times: LeaseTimes;
  readonly #turns = new Map<number, Turn>();
  readonly #ownName: string;
  #seen = new Map<string, SeenLease>();
  #own: Lease | undefined;

  constructor(options: ShardKeeperOptions) {
    this.#o = options;
    this.#times = options.times ?? LEASE_TIMES;
    this.#ownName = `${options.crew}-replica-${hashOf(options.identity).toString(16).padStart(8, "0")}`;
  }

  get crew(): string {
    return this.#o.crew;
  }

  /** Whether the shard's Lease is surely held at this very moment. */
  held(shard: number): boolean {
    return this.#turns.get(shard)?.leader.held() ?? false;
  }

  /** Whether the shard is being given away: nothing more begins in it. */
  isGiven(shard: number): boolean {
    return this.#turns.get(shard)?.isGiven ?? false;
  }

  /** Takes its part in the crew until `signal` is aborted, then gives every Lease back. Work has ended by then. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#o;
    while (!signal.aborted) {
      try {
        await this.#round(signal);
      } catch (error) {
        if (signal.aborted) break;
        const fault = asFault(error, "lease");
        const fields = { crew: this.#o.crew, code: fault.code, error: fault.advice };
        if (fault.retryable || fault.code === "Conflict") log.debug(fields, "this replica's lease was not renewed");
        else log.warn(fields, "this replica takes no shards");
      }
      await clock.sleep(this.#pauseMs(), signal).catch(() => {});
    }
    await this.#leave();
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { client, namespace, crew } = this.#o;
    const options = { signal, timeoutMs: this.#times.renewMs / 2 };
    await this.#renew(options);
    const labelSelector = `${CREW_LABEL}=${crew}`;
    const { items } = await client.list(Lease, { namespace, labelSelector, ...options });
    this.#observe(items.filter(({ metadata }) => metadata.labels?.[CREW_LABEL] === crew));
    if (signal.aborted) return;
    const living = this.#living();
    this.#carryOut(planShards(this.#holders(living), [...living]));
    await this.#forgetDead(living, options);
  }

  /** Tells the others that this replica lives. */
  async #renew(options: { signal: AbortSignal; timeoutMs: number }): Promise<void> {
    const { client, clock, namespace, crew, identity } = this.#o;
    const renewTime = rfc3339Micro(clock.now());
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(this.#times.leaseMs / 1000),
      acquireTime: this.#own?.spec?.acquireTime ?? renewTime,
      renewTime,
    };
    const ref = { namespace, name: this.#ownName };
    const own = this.#own ?? (await client.find(Lease, ref, options));
    this.#own = undefined;
    this.#own =
      own === undefined
        ? await client.create(Lease, { metadata: { ...ref, labels: { [CREW_LABEL]: crew } }, spec }, options)
        : await client.update(Lease, { ...own, spec }, options);
  }

  #observe(leases: readonly Lease[]): void {
    const now = this.#o.clock.monotonic();
    const seen = new Map<string, SeenLease>();
    for (const lease of leases) {
      const { name, resourceVersion } = lease.metadata;
      const before = this.#seen.get(name);
      seen.set(name, before?.lease.metadata.resourceVersion === resourceVersion ? before : { lease, at: now });
    }
    this.#seen = seen;
  }

  /** This replica, and all whose Lease was renewed a short while ago. */
  #living(): Set<string> {
    const living = new Set([this.#o.identity]);
    for (const [name, seen] of this.#seen) {
      const holder = seen.lease.spec?.holderIdentity ?? "";
      if (this.#isReplica(name) && holder !== "" && !this.#isOver(seen)) living.add(holder);
    }
    return living;
  }

  #isReplica(name: string): boolean {
    return name.startsWith(`${this.#o.crew}-replica-`);
  }

  #isOver(seen: SeenLease): boolean {
    return this.#o.clock.monotonic() >= this.#endOf(seen);
  }

  #endOf({ lease, at }: SeenLease): number {
    return at + (lease.spec?.leaseDurationSeconds ?? this.#times.leaseMs / 1000) * 1000;
  }

  /**
   * Who holds each shard, of the living. What this replica holds it knows better than any list. A Lease that ran out is nobody's, though it names one of the living: that one has lost
   * it, plans it for another, and nobody would take it.
   */
  #holders(living: ReadonlySet<string>): (string | undefined)[] {
    return Array.from({ length: this.#o.shards }, (_, shard) => {
      if (this.held(shard)) return this.#o.identity;
      const seen = this.#seen.get(this.#nameOf(shard));
      const holder = seen === undefined || this.#isOver(seen) ? "" : (seen.lease.spec?.holderIdentity ?? "");
      return living.has(holder) && holder !== this.#o.identity ? holder : undefined;
    });
  }

  #nameOf(shard: number): string {
    return shardLease(this.#o.crew, shard);
  }

  #carryOut(plan: readonly (string | undefined)[]): void {
    for (const [shard, replica] of plan.entries()) {
      const turn = this.#turns.get(shard);
      if (replica === this.#o.identity) {
        if (turn === undefined) this.#turns.set(shard, this.#standFor(shard));
      } else if (turn !== undefined && !turn.isGiven) {
        turn.isGiven = true;
        void this.#give(shard, turn);
      }
    }
  }

  #standFor(shard: number): Turn {
    const { client, clock, random, log, namespace, crew, identity, onChange } = this.#o;
    const seen = this.#seen.get(this.#nameOf(shard));
    const leader = new Leader({
      ...{ client, clock, random, log, identity, times: this.#times },
      lease: { namespace, name: this.#nameOf(shard) },
      labels: { [CREW_LABEL]: crew },
      ...(seen && { seen }),
      onChange: (held) => onChange(shard, held),
    });
    const stop = new AbortController();
    return { leader, stop, ended: leader.run(stop.signal), isGiven: false };
  }

  /** Work ends first, under the Lease; then the Lease is free for the next. */
  async #give(shard: number, turn: Turn): Promise<void> {
    await this.#o.drain(shard);
    turn.stop.abort();
    await turn.ended;
    this.#turns.delete(shard);
  }

  /** Until the next look: a replica's end, and that of its Leases, is noticed at the moment when it is certain. */
  #pauseMs(): number {
    const now = this.#o.clock.monotonic();
    const ends = [...this.#seen.values()].map((seen) => this.#endOf(seen) - now).filter((ms) => ms > 0);
    return Math.min(this.#times.retryMs, ...ends);
  }

  /** The first of the living clears away what the dead have left. */
  async #forgetDead(living: ReadonlySet<string>, options: { signal: AbortSignal; timeoutMs: number }): Promise<void> {
    if ([...living].sort()[0] !== this.#o.identity) return;
    const now = this.#o.clock.monotonic();
    for (const [name, { lease, at }] of this.#seen) {
      if (!this.#isReplica(name) || name === this.#ownName || now - at < FORGOTTEN * this.#times.leaseMs) continue;
      const { uid, resourceVersion } = lease.metadata;
      const ref = { namespace: this.#o.namespace, name };
      await this.#o.client.delete(Lease, ref, { uid, resourceVersion, ...options });
    }
  }

  /** The others learn first that this replica takes nothing more; then each Lease is free. */
  async #leave(): Promise<void> {
    const { client, namespace, log, crew } = this.#o;
    const gone = client
      .delete(Lease, { namespace, name: this.#ownName }, { timeoutMs: this.#times.retryMs })
      .catch((error: unknown) => log.debug({ crew, code: asFault(error, "lease").code }, "a replica's lease runs out"));
    for (const { stop } of this.#turns.values()) stop.abort();
    await Promise.all([gone, ...[...this.#turns.values()].map(({ ended }) => ended)]);
    this.#turns.clear();
  }
}
