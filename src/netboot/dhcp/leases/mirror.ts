import { asFault, type Clock, isFault, type Log, type Timer } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { formatIpv4, type Ipv4 } from "../wire/ipv4.ts";
import type { Lease, LeaseStore } from "./lease.ts";
import { readLines, writeLine } from "./lease-lines.ts";

/** Where the copy of the leases is. */
export interface SharedLeases {
  client: Pick<Client, "list" | "find" | "create" | "update">;
  namespace: string;
  /** Replicas that serve the same networks have the same one; a DNS label of at most 40 characters. */
  name: string;
}

/** And whose it is. */
export interface LeaseCopy extends SharedLeases {
  /** This replica, the same one for as long as its file is kept. */
  replica: string;
}

export interface MirrorOptions extends LeaseCopy {
  clock: Pick<Clock, "after">;
  log: Log;
  /** Another replica has taken over: this one must not answer any more. Called once, and must not throw. */
  onLost: () => void;
}

/** A file of leases with a copy in Kubernetes, from which another replica goes on. */
export interface MirroredLeases extends LeaseStore {
  /** Resolves when the copy is complete: before a hand-over. Rejects with the API's `Fault`. */
  settle(): Promise<void>;
}

export const LABEL = "slipway.dev/dhcp-leases";
const REPLICA = "slipway.dev/replica";
/** Counts take-overs: who writes under a lower number than is there has been replaced. */
const TERM = "slipway.dev/term";

/** Addresses of one ConfigMap: 2^10, so that even the longest clients' names stay under its limit of 1 MiB. */
const BLOCK_BITS = 10;

/** What another replica does not know of when this one dies; it looks at such addresses before it gives them. */
const EVERY_MS = 2_000;

/** Replicas that take over at the same moment give way to the last of them; more than two hardly meet. */
const TRIES = 5;

/** A replica that has to go must not wait longer for an API that is away. */
const CALL = { timeoutMs: 5_000 };

/** So many ConfigMaps at a time: a rack that powers on must not flood the API. */
const MOST_AT_ONCE = 8;

/**
 * Opens the leases of a replica that has been elected to serve, once the one before has stopped or is given up. What Kubernetes knows
 * goes before what is in the file, but for what this replica was the last to write; then the copy is this replica's, and a replica that
 * thinks it still serves learns from its next write that it does not. The file is never waited for less than before: an ACK means it is
 * there, and an API that is away holds up no machine. Rejects with a `Fault` when the API can't be asked; the file stays open.
 */
export async function openMirrored(file: LeaseStore, options: MirrorOptions): Promise<MirroredLeases> {
  const mirror = new Mirror(file, options);
  await mirror.takeOver();
  return mirror;
}

class Mirror implements MirroredLeases {
  readonly #file: LeaseStore;
  readonly doubtful: ReadonlySet<Ipv4>;
  readonly #o: MirrorOptions;
  readonly #leases: Map<Ipv4, Lease>;
  /** The ConfigMaps as last seen, by block. */
  readonly #objects = new Map<number, ConfigMap>();
  readonly #changed = new Set<number>();
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  #term = 0;
  #isTakingOver = true;
  /** The last write failed, and that was logged. */
  #isBehind = false;
  #over = false;

  constructor(file: LeaseStore, options: MirrorOptions) {
    this.#file = file;
    this.doubtful = file.doubtful ?? new Set();
    this.#o = options;
    this.#leases = new Map(file.load().map((lease) => [lease.address, lease]));
  }

  async takeOver(): Promise<void> {
    for (const object of await this.#claimed()) await this.#adopt(object);
    for (const address of this.#leases.keys()) this.#changed.add(blockOf(address));
    await this.settle();
    this.#isTakingOver = false;
  }

  /** Begins a term, and returns the ConfigMaps of the one before. */
  async #claimed(): Promise<ConfigMap[]> {
    const { client, namespace, name } = this.#o;
    for (let left = TRIES; ; left--) {
      const { items } = await client.list(ConfigMap, { namespace, labelSelector: `${LABEL}=${name}` });
      const head = items.find((object) => object.metadata.name === `${name}-term`);
      // Of all of them: the first may have been deleted.
      this.#term = Math.max(0, ...items.map(termOf)) + 1;
      try {
        await this.#save(head, `${name}-term`, {});
        return items.filter((object) => object !== head);
      } catch (error) {
        if (left === 1 || !isFault(error, "Conflict", "AlreadyExists")) throw error;
      }
    }
  }

  /** Takes over what a ConfigMap knows, before any client asks for a lease. */
  async #adopt(object: ConfigMap): Promise<void> {
    const theirs = object.metadata.annotations?.[REPLICA] !== this.#o.replica;
    const { leases: known } = readLines(object.data?.leases ?? "");
    const [first] = known.keys();
    if (first !== undefined) this.#objects.set(blockOf(first), object);
    const better = [...known.values()].filter(
      ({ address }) => theirs || !this.#leases.has(address) || this.doubtful.has(address),
    );
    for (const lease of better) this.#leases.set(lease.address, lease);
    await Promise.all(better.map((lease) => this.#file.put(lease)));
  }

  load(): Lease[] {
    return [...this.#leases.values()];
  }

  put(lease: Lease): Promise<void> {
    this.#leases.set(lease.address, lease);
    this.#changed.add(blockOf(lease.address));
    this.#later();
    return this.#file.put(lease);
  }

  close(): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#file.close();
  }

  async settle(): Promise<void> {
    await this.#writing;
    while (this.#changed.size > 0 && !this.#over) await this.#write();
  }

  #later(): void {
    if (this.#over) return;
    this.#timer ??= this.#o.clock.after(EVERY_MS, () => {
      this.#timer = undefined;
      this.#writing = this.#write().then(
        () => {
          this.#isBehind = false;
          if (this.#changed.size > 0) this.#later();
        },
        (error: unknown) => {
          if (!this.#isBehind)
            this.#o.log.warn({ error: asFault(error, "dhcp leases").message }, "leases can't be copied to Kubernetes");
          this.#isBehind = true;
          this.#later();
        },
      );
    });
  }

  /** Writes some of the blocks that changed. What can't be written stays to be. */
  async #write(): Promise<void> {
    for (const block of [...this.#changed].slice(0, MOST_AT_ONCE)) {
      if (this.#over) return;
      this.#changed.delete(block);
      try {
        this.#objects.set(block, await this.#store(block));
      } catch (error) {
        this.#changed.add(block);
        if (!isFault(error, "Conflict", "AlreadyExists", "NotFound")) throw error;
        await this.#lookAgain(block);
      }
    }
  }

  /** Something else is there than was last seen: our own write whose answer was lost, the last one of a replica before, or a later replica's. */
  async #lookAgain(block: number): Promise<void> {
    const { client, namespace } = this.#o;
    const found = await client.find(ConfigMap, { namespace, name: this.#nameOf(block) }, CALL);
    if (found === undefined) this.#objects.delete(block);
    else if (termOf(found) > this.#term) this.#lost();
    else {
      this.#objects.set(block, found);
      if (this.#isTakingOver) await this.#adopt(found);
    }
  }

  #nameOf(block: number): string {
    return `${this.#o.name}-${formatIpv4((block << BLOCK_BITS) >>> 0).replaceAll(".", "-")}`;
  }

  #store(block: number): Promise<ConfigMap> {
    const first = (block << BLOCK_BITS) >>> 0;
    let leases = "";
    for (let i = 0; i < 2 ** BLOCK_BITS; i++) {
      const lease = this.#leases.get(first + i);
      if (lease !== undefined) leases += writeLine(lease);
    }
    return this.#save(this.#objects.get(block), this.#nameOf(block), { leases });
  }

  /** Writes in this term, if there was no other write since `before` was read. */
  #save(before: ConfigMap | undefined, name: string, data: Record<string, string>): Promise<ConfigMap> {
    const { client, namespace, replica } = this.#o;
    const said = { [REPLICA]: replica, [TERM]: String(this.#term) };
    if (before === undefined) {
      const metadata = { namespace, name, labels: { [LABEL]: this.#o.name }, annotations: said };
      return client.create(ConfigMap, { metadata, data }, CALL);
    }
    const annotations = { ...before.metadata.annotations, ...said };
    return client.update(ConfigMap, { ...before, metadata: { ...before.metadata, annotations }, data }, CALL);
  }

  #lost(): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#o.onLost();
  }
}

function termOf({ metadata }: ConfigMap): number {
  return Number(metadata.annotations?.[TERM]) || 0;
}

function blockOf(address: Ipv4): number {
  return address >>> BLOCK_BITS;
}
