import { type Clock, isMac, type Mac, parseMac, type Timer } from "@slipway/base";
import type { Inventory } from "../protocol/messages.ts";
import { type Bounds, Occupancy, type Place } from "./eviction.ts";
import { type HostRecord, isMerelySeen } from "./host.ts";
import type { HostStore } from "./host-store.ts";
import { RecentInventories } from "./recent-inventories.ts";

/** When a record may be written: before it is visible, or within a second, together with others. */
export type Durability = "now" | "soon";

/** What changes with a record. */
export interface Changing {
  /** Those that it takes the place of. */
  absorbed?: readonly HostRecord[];
  /** Those that make room for it (`room`). */
  leaving?: readonly HostRecord[];
  /** Its new inventory, packed. */
  inventory?: Uint8Array;
}

export interface RecordsOptions {
  store: HostStore;
  clock: Pick<Clock, "after">;
  bounds: Bounds;
  /** Whether a record may not leave, beside those with a decision of a user. Asked when it would. */
  isKept(record: HostRecord): boolean;
  /** Sees each record that the store has before it is used. */
  restored(record: HostRecord): HostRecord;
}

const SOON_MS = 1_000;

/** Records that are written at once while others wait for the process. What is left follows a second later. */
const MOST_AT_ONCE = 1_000;

/** Where machines are whose place is unknown. */
export const LINK = "link";

/** What a record takes beside its inventory, its order and its cards: names, times, hashes. */
const STATE_BYTES = 1_024;
const CARD_BYTES = 20;

/** All records without their inventories, by name and by card, and their way to the store, which is closed with them. They take no more than the bounds. */
export class HostRecords {
  readonly #store: HostStore;
  readonly #clock: Pick<Clock, "after">;
  readonly #isKept: (record: HostRecord) => boolean;
  readonly #byName = new Map<string, HostRecord>();
  readonly #byCard = new Map<Mac, string>();
  readonly #byToken = new Map<string, string>();
  readonly #occupancy: Occupancy;
  readonly #inventories = new RecentInventories();
  /** What the store does not know yet; without a record: that it is gone. */
  readonly #unwritten = new Set<string>();
  /** Hosts that the store has and that there is no room for, though they may not leave it. */
  readonly unread: number;
  #timer: Timer | undefined;
  #closed = false;

  constructor({ store, clock, bounds, isKept, restored }: RecordsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#isKept = isKept;
    this.#occupancy = new Occupancy(bounds);
    this.unread = this.#load(restored);
  }

  /** In all. */
  get size(): number {
    return this.#byName.size;
  }

  /** What they take on the disk. */
  get bytes(): number {
    return this.#occupancy.bytes;
  }

  /** By name, or by card in any notation. */
  find(nameOrMac: string): HostRecord | undefined {
    const name = isMac(nameOrMac) ? this.#byCard.get(parseMac(nameOrMac)) : nameOrMac;
    return name === undefined ? undefined : this.#byName.get(name);
  }

  /** By the hash of its token. */
  byToken(hash: string): HostRecord | undefined {
    const name = this.#byToken.get(hash);
    return name === undefined ? undefined : this.#byName.get(name);
  }

  all(): Iterable<HostRecord> {
    return this.#byName.values();
  }

  /** What the host reported last, from memory or from the disk. */
  inventoryOf(name: string): Inventory | undefined {
    if (this.#byName.get(name)?.inventoryBytes === undefined) return undefined;
    return this.#inventories.get(name) ?? this.#inventories.add(name, this.#store.inventoryOf(name));
  }

  /** Who leaves so that there is room for `record`, which may be a new one or a larger one; undefined: there is none. */
  room(record: HostRecord): HostRecord[] | undefined {
    const isKept = (name: string): boolean => rankOf(this.#byName.get(name)!, this.#isKept) === "kept";
    const names = this.#occupancy.roomFor(record.host.name, placeOf(record, this.#isKept), isKept);
    return names?.map((name) => this.#byName.get(name)!);
  }

  /** Puts `record` in the place of its predecessor and of those that it absorbs. Throws a `Fault` when the store fails; nothing has changed then. */
  put(record: HostRecord, durability: Durability, { absorbed = [], leaving = [], inventory }: Changing = {}): void {
    const { name } = record.host;
    const gone = [...absorbed, ...leaving];
    if (durability === "now")
      this.#writeNow([record], gone, inventory === undefined ? undefined : new Map([[name, inventory]]));
    else for (const each of [record, ...gone]) this.#writeSoon(each.host.name);
    const before = this.#byName.get(name);
    for (const each of before === undefined ? gone : [...gone, before]) this.#unindex(each);
    if (inventory !== undefined) this.#inventories.forget(name);
    this.#index(record);
  }

  /** As `put`. */
  remove(record: HostRecord, durability: Durability): void {
    if (durability === "now") this.#writeNow([], [record]);
    else this.#writeSoon(record.host.name);
    this.#unindex(record);
  }

  /** Writes what is not written yet and closes the store. Throws a `Fault` when it can't be written; it is closed all the same. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    try {
      while (this.#unwritten.size > 0) this.#flush();
    } finally {
      this.#store.close();
    }
  }

  /** What the store has, as far as there is room; what leaves is written later. */
  #load(restored: (record: HostRecord) => HostRecord): number {
    let unread = 0;
    for (const stored of this.#store.load()) {
      const record = restored(stored);
      const leaving = this.room(record);
      for (const each of leaving ?? []) this.remove(each, "soon");
      if (leaving !== undefined) this.#index(record);
      else if (rankOf(record, this.#isKept) === "kept") unread++;
      else this.#writeSoon(record.host.name);
      if (this.#unwritten.size >= MOST_AT_ONCE) this.#writeUnwritten();
    }
    return unread;
  }

  #index(record: HostRecord): void {
    const { host } = record;
    this.#byName.set(host.name, record);
    for (const mac of host.macs) this.#byCard.set(mac, host.name);
    if (record.tokenHash !== undefined) this.#byToken.set(record.tokenHash, host.name);
    this.#occupancy.put(host.name, placeOf(record, this.#isKept));
  }

  #unindex({ host, tokenHash }: HostRecord): void {
    this.#byName.delete(host.name);
    for (const mac of host.macs) if (this.#byCard.get(mac) === host.name) this.#byCard.delete(mac);
    if (tokenHash !== undefined) this.#byToken.delete(tokenHash);
    this.#occupancy.remove(host.name);
    this.#inventories.forget(host.name);
  }

  #writeNow(
    changed: readonly HostRecord[],
    gone: readonly HostRecord[],
    inventories?: ReadonlyMap<string, Uint8Array>,
  ): void {
    this.#store.write(
      changed,
      gone.map((each) => each.host.name),
      inventories,
    );
    for (const each of [...changed, ...gone]) this.#unwritten.delete(each.host.name);
  }

  #writeSoon(name: string): void {
    this.#unwritten.add(name);
    if (!this.#closed) this.#timer ??= this.#clock.after(SOON_MS, () => this.#writeUnwritten());
  }

  #writeUnwritten(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    try {
      this.#flush();
    } catch {
      // It stays to be written; callers that need it on the disk at once get the error.
    }
    if (this.#unwritten.size > 0) this.#timer = this.#clock.after(SOON_MS, () => this.#writeUnwritten());
  }

  #flush(): void {
    const names = this.#unwritten.values().take(MOST_AT_ONCE).toArray();
    if (names.length === 0) return;
    const changed = names.flatMap((name) => this.#byName.get(name) ?? []);
    const gone = names.filter((name) => !this.#byName.has(name));
    this.#store.write(changed, gone);
    for (const name of names) this.#unwritten.delete(name);
  }
}

function rankOf(record: HostRecord, isKept: (record: HostRecord) => boolean): Place["rank"] {
  if (record.host.order !== undefined || record.bootChosen || isKept(record)) return "kept";
  return isMerelySeen(record) ? "seen" : "registered";
}

function placeOf(record: HostRecord, isKept: (record: HostRecord) => boolean): Place {
  const { host, source = LINK, inventoryBytes = 0 } = record;
  const order = host.order === undefined ? 0 : JSON.stringify(host.order).length;
  const bytes = STATE_BYTES + CARD_BYTES * host.macs.length + order + inventoryBytes;
  return { source, rank: rankOf(record, isKept), bytes };
}
