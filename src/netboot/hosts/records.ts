import type { Clock, Timer } from "../../base/clock.ts";
import { isMac, type Mac, parseMac } from "../../base/mac.ts";
import { type HostRecord, isMerelyHeard } from "./host.ts";
import type { HostStore } from "./host-store.ts";

/** When a record may be written: before anybody hears of it, or within a second, together with others. */
export type Durability = "now" | "soon";

const SOON_MS = 1_000;

/** All records in memory, by name and by card, and their way to the store, which is closed with them. */
export class HostRecords {
  readonly #store: HostStore;
  readonly #clock: Pick<Clock, "after">;
  readonly #byName = new Map<string, HostRecord>();
  readonly #byCard = new Map<Mac, string>();
  readonly #byToken = new Map<string, string>();
  /** Names of those that were merely heard, longest ago first. */
  readonly #heard = new Set<string>();
  /** What the store does not know yet; without a record: that it is gone. */
  readonly #unwritten = new Set<string>();
  #timer: Timer | undefined;
  #closed = false;

  /** `restored` sees each record that the store has before it is used. */
  constructor(store: HostStore, clock: Pick<Clock, "after">, restored: (record: HostRecord) => HostRecord) {
    this.#store = store;
    this.#clock = clock;
    for (const record of store.load().sort((a, b) => a.host.lastSeen - b.host.lastSeen)) this.#index(restored(record));
  }

  get size(): number {
    return this.#byName.size;
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

  /** The one that was merely heard, and that longest ago. */
  oldestHeard(): HostRecord | undefined {
    const [name] = this.#heard;
    return name === undefined ? undefined : this.#byName.get(name);
  }

  /** Puts `record` in the place of its predecessor and of those that it absorbs. Throws a `Fault` when the store fails; nothing has changed then. */
  put(record: HostRecord, durability: Durability, absorbed: readonly HostRecord[] = []): void {
    const { name } = record.host;
    if (durability === "now") this.#writeNow([record], absorbed);
    else this.#writeSoon(name);
    const before = this.#byName.get(name);
    for (const each of before === undefined ? absorbed : [...absorbed, before]) this.#unindex(each);
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
      this.#flush();
    } finally {
      this.#store.close();
    }
  }

  #index(record: HostRecord): void {
    const { host } = record;
    this.#byName.set(host.name, record);
    for (const mac of host.macs) this.#byCard.set(mac, host.name);
    if (record.tokenHash !== undefined) this.#byToken.set(record.tokenHash, host.name);
    if (isMerelyHeard(record)) this.#heard.add(host.name);
  }

  #unindex({ host, tokenHash }: HostRecord): void {
    this.#byName.delete(host.name);
    for (const mac of host.macs) this.#byCard.delete(mac);
    if (tokenHash !== undefined) this.#byToken.delete(tokenHash);
    this.#heard.delete(host.name);
  }

  #writeNow(changed: readonly HostRecord[], gone: readonly HostRecord[]): void {
    this.#store.write(
      changed,
      gone.map((each) => each.host.name),
    );
    for (const each of [...changed, ...gone]) this.#unwritten.delete(each.host.name);
  }

  #writeSoon(name: string): void {
    this.#unwritten.add(name);
    if (!this.#closed) this.#timer ??= this.#clock.after(SOON_MS, () => this.#writeUnwritten());
  }

  #writeUnwritten(): void {
    this.#timer = undefined;
    try {
      this.#flush();
    } catch {
      // It stays to be written; whoever wants something on the disk at once is told that it can't be.
      this.#timer = this.#clock.after(SOON_MS, () => this.#writeUnwritten());
    }
  }

  #flush(): void {
    const names = [...this.#unwritten];
    if (names.length === 0) return;
    const changed = names.flatMap((name) => this.#byName.get(name) ?? []);
    const gone = names.filter((name) => !this.#byName.has(name));
    this.#store.write(changed, gone);
    this.#unwritten.clear();
  }
}
