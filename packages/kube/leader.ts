import { asFault, type Clock, type Fault, isFault, type Log, type Random, rfc3339Micro } from "@slipway/base";
import type { CallOptions, Client } from "./client.ts";
import { Lease } from "./core.ts";
import type { Ref } from "./object.ts";

export interface LeaseTimes {
  /** How long others wait after the last renewal they saw. */
  leaseMs: number;
  /** How long the holder believes in its own last renewal; must be shorter than `leaseMs`. */
  renewMs: number;
  /** Between two tries. */
  retryMs: number;
}

export const LEASE_TIMES: LeaseTimes = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

const STOPPING = "this replica stops";

/** A record that was seen unchanged since a moment of `clock.monotonic()`. */
export interface SeenLease {
  lease: Lease;
  at: number;
}

export interface LeaderOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
  lease: Required<Ref>;
  /** Unique among all replicas and restarts. */
  identity: string;
  times?: LeaseTimes;
  /** Several candidates hold it together, under one identity, and none of them gives it back. */
  shared?: boolean;
  /** The record as it was seen before, and since when (of `clock.monotonic()`). */
  seen?: SeenLease;
  /** What stands on the Lease when it is created. */
  labels?: Readonly<Record<string, string>>;
  /** Called when leadership begins and when it ends. Must not throw. */
  onChange: (leading: boolean) => void;
}

/**
 * One candidate for a Lease (coordination.k8s.io/v1), by the rules of client-go's leader election: no clock is compared with
 * another's, a candidate only measures, by a clock that can't be set, how long it saw the record unchanged. The holder counts its own time from before each renewal
 * was sent and stops `leaseMs - renewMs` earlier than another replica may start.
 */
export class Leader {
  readonly #o: LeaderOptions;
  readonly #times: LeaseTimes;
  #seen: SeenLease | undefined;
  #heldUntil = Number.NEGATIVE_INFINITY;
  #leading = false;

  constructor(options: LeaderOptions) {
    this.#o = options;
    this.#times = options.times ?? LEASE_TIMES;
    this.#seen = options.seen;
    if (this.#times.renewMs >= this.#times.leaseMs || this.#times.retryMs >= this.#times.renewMs)
      throw new RangeError("leader election: retry < renew < lease must hold");
  }

  /** Whether the lease is surely held at this very moment. */
  held(): boolean {
    return this.#leading && this.#o.clock.monotonic() < this.#heldUntil;
  }

  /** Stands for election until `signal` is aborted, then gives the lease back. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, lease } = this.#o;
    while (!signal.aborted) {
      try {
        await this.#try(signal);
      } catch (error) {
        if (signal.aborted) break;
        log.debug({ lease: lease.name, code: asFault(error, "lease").code }, "lease not renewed");
      }
      this.#loseWhenOver();
      // Candidates are spread, so that they don't all ask at the same moment.
      const pause = this.#times.retryMs * (this.#isAlone ? 1 : 1 + 0.2 * random.fraction());
      const left = this.#leading ? Math.min(pause, this.#heldUntil - clock.monotonic()) : pause;
      await clock.sleep(left, signal).catch(() => {});
      this.#loseWhenOver();
    }
    await this.#release();
  }

  /** Whether no other may write the record. */
  get #isAlone(): boolean {
    return this.#leading && this.#o.shared !== true;
  }

  #loseWhenOver(): void {
    if (this.#leading && this.#o.clock.monotonic() >= this.#heldUntil) this.#lose("it could not be renewed in time");
  }

  async #try(signal: AbortSignal): Promise<void> {
    const { clock, client, lease: ref } = this.#o;
    const sentAt = clock.monotonic();
    const left = this.#leading ? this.#heldUntil - sentAt : this.#times.renewMs;
    // A try may hang on a connection that is dead and does not know it: time for another, on a new one, must be left.
    const options = { signal, timeoutMs: Math.max(1, Math.min(left, this.#times.renewMs / 2)) };
    // The holder knows the record already; one request is enough while no other candidate writes it.
    const known = this.#isAlone ? this.#seen?.lease : undefined;
    const current = known ?? (await client.find(Lease, ref, options));
    if (current !== undefined && known === undefined) this.#observe(current);
    if (current !== undefined && this.#heldByOther(current)) {
      if (this.#leading) this.#lose("another replica holds it");
      return;
    }
    try {
      const written =
        current === undefined
          ? await client.create(Lease, { metadata: this.#metadata(), spec: this.#record(undefined) }, options)
          : await client.update(Lease, { ...current, spec: this.#record(current) }, options);
      this.#observe(written);
      this.#win(sentAt + this.#times.renewMs);
    } catch (error) {
      if (!isFault(error, "Conflict", "AlreadyExists", "NotFound")) throw error;
      if (known !== undefined) await this.#lookAgain(options);
    }
  }

  /** Another replica wrote: what the holder knew of the record does not hold any more. */
  async #lookAgain(options: CallOptions): Promise<void> {
    this.#seen = undefined;
    const now = await this.#o.client.find(Lease, this.#o.lease, options);
    if (now === undefined) return;
    this.#observe(now);
    if (this.#heldByOther(now)) this.#lose("another replica holds it");
  }

  #observe(lease: Lease): void {
    if (this.#seen?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#seen = { lease, at: this.#o.clock.monotonic() };
  }

  #heldByOther(lease: Lease): boolean {
    const holder = lease.spec?.holderIdentity ?? "";
    if (holder === "" || holder === this.#o.identity) return false;
    const leaseMs = (lease.spec?.leaseDurationSeconds ?? this.#times.leaseMs / 1000) * 1000;
    return this.#seen !== undefined && this.#o.clock.monotonic() < this.#seen.at + leaseMs;
  }

  #metadata(): Partial<Lease["metadata"]> {
    const { lease, labels } = this.#o;
    return { ...lease, ...(labels && { labels: { ...labels } }) };
  }

  #record(before: Lease | undefined): NonNullable<Lease["spec"]> {
    const now = rfc3339Micro(this.#o.clock.now());
    const spec = before?.spec;
    const same = spec?.holderIdentity === this.#o.identity;
    return {
      holderIdentity: this.#o.identity,
      leaseDurationSeconds: Math.ceil(this.#times.leaseMs / 1000),
      acquireTime: same ? (spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (spec?.leaseTransitions ?? 0) + (before === undefined || same ? 0 : 1),
    };
  }

  #win(until: number): void {
    // If the Lease ran out before it was renewed, report that loss first: `held` was false meanwhile.
    this.#loseWhenOver();
    this.#heldUntil = until;
    if (this.#leading || this.#o.clock.monotonic() >= until) return;
    this.#leading = true;
    this.#o.log.info({ lease: this.#o.lease.name, identity: this.#o.identity }, "leading");
    this.#o.onChange(true);
  }

  #lose(because: string): void {
    this.#leading = false;
    this.#heldUntil = Number.NEGATIVE_INFINITY;
    const { log, lease, onChange } = this.#o;
    if (because === STOPPING) log.info({ lease: lease.name, because }, "no longer leading");
    else log.warn({ lease: lease.name, because }, "no longer leading");
    onChange(false);
  }

  /** Empties the record, so that another replica need not wait for it to run out. */
  async #release(): Promise<void> {
    const lease = this.#seen?.lease;
    const held = this.held();
    if (this.#leading) this.#lose(STOPPING);
    if (!held || lease === undefined || this.#o.shared === true) return;
    const { client } = this.#o;
    const options = { timeoutMs: this.#times.retryMs };
    const emptied = (now: Lease): Lease => ({
      ...now,
      spec: { ...now.spec, holderIdentity: "", leaseDurationSeconds: 1 },
    });
    try {
      try {
        await client.update(Lease, emptied(lease), options);
      } catch (error) {
        if (!isFault(error, "Conflict")) throw error;
        // The last renewal was broken off here, and has reached the API all the same.
        const now = await client.find(Lease, this.#o.lease, options);
        if (now?.spec?.holderIdentity === lease.spec?.holderIdentity)
          await client.update(Lease, emptied(now!), options);
      }
    } catch (error) {
      const fault: Fault = asFault(error, "lease");
      this.#o.log.debug({ lease: this.#o.lease.name, code: fault.code }, "lease not released; it will run out");
    }
  }
}
