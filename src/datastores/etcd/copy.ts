import { Fault } from "@slipway/base";
import type { Place } from "../place.ts";
import type { EtcdClient, KeyValue } from "./client.ts";

/** The keys from `key` on, up to `end`, which is no part of it. */
interface KeyRange {
  key: string;
  end: string;
}

export interface CopyKeys extends KeyRange {
  from: EtcdClient;
  to: EtcdClient;
  place: Place;
  progress(done: number): void;
  signal: AbortSignal;
}

const PAGE = 500;
/** etcd takes 128 operations (`--max-txn-ops`) and 1.5 MiB (`--max-request-bytes`) in one transaction. */
const MOST_PUTS = 100;
const MOST_BYTES = 1_000_000;

/**
 * Copies the keys as they are at one revision. A key with a lease gets one that ends at the same time; what has ended meanwhile is left
 * out. Rejects with `Conflict` where the target has keys.
 */
export async function copyKeys({ from, to, place, key, end, progress, signal }: CopyKeys): Promise<void> {
  const there = await to.range({ key, end, limit: 1, revision: 0n, keysOnly: true }, signal);
  if (there.kvs.length > 0)
    throw new Fault("Conflict", place.schema, `there are keys below ${key} in the etcd that it is copied to`, {
      remedy: "remove the place there first",
    });
  const leases = new Leases(from, to);
  let done = 0;
  for await (const page of pages(from, { key, end }, signal))
    for (const batch of batches(page)) {
      const puts = await leases.replaced(batch, signal);
      if (puts.length > 0) await to.putAll(puts, signal);
      done += batch.length;
      progress(done);
    }
}

/** How many there are at one revision, without those that have a lease. */
export async function countKeys(from: EtcdClient, range: KeyRange, signal: AbortSignal): Promise<number> {
  let count = 0;
  for await (const page of pages(from, { ...range, keysOnly: true }, signal))
    count += page.filter(({ lease }) => lease === 0n).length;
  return count;
}

/** All of them as they are when the first is read. */
async function* pages(
  from: EtcdClient,
  { key, end, keysOnly = false }: KeyRange & { keysOnly?: boolean },
  signal: AbortSignal,
): AsyncGenerator<KeyValue[]> {
  let next: string | Uint8Array = key;
  let revision = 0n;
  for (let more = true; more; ) {
    const page = await from.range({ key: next, end, limit: PAGE, revision, keysOnly }, signal);
    const last = page.kvs.at(-1);
    if (last === undefined) return;
    yield page.kvs;
    if (revision === 0n) revision = page.revision;
    next = Buffer.concat([last.key, Buffer.alloc(1)]);
    more = page.more;
  }
}

function* batches(kvs: readonly KeyValue[]): Generator<KeyValue[]> {
  let batch: KeyValue[] = [];
  let bytes = 0;
  for (const kv of kvs) {
    const size = kv.key.length + kv.value.length;
    if (batch.length > 0 && (batch.length === MOST_PUTS || bytes + size > MOST_BYTES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(kv);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Leases of the source, each as one of the target. */
class Leases {
  readonly #from: EtcdClient;
  readonly #to: EtcdClient;
  readonly #known = new Map<bigint, bigint | undefined>([[0n, 0n]]);

  constructor(from: EtcdClient, to: EtcdClient) {
    this.#from = from;
    this.#to = to;
  }

  /** The keys with leases of the target, without those whose lease is over. */
  async replaced(kvs: readonly KeyValue[], signal: AbortSignal): Promise<KeyValue[]> {
    const kept: KeyValue[] = [];
    for (const kv of kvs) {
      const lease = await this.#of(kv.lease, signal);
      if (lease !== undefined) kept.push({ ...kv, lease });
    }
    return kept;
  }

  async #of(lease: bigint, signal: AbortSignal): Promise<bigint | undefined> {
    if (!this.#known.has(lease)) {
      const left = await this.#from.leaseLeft(lease, signal);
      this.#known.set(lease, left > 0n ? await this.#to.grantLease(left, signal) : undefined);
    }
    return this.#known.get(lease);
  }
}
