/**
 * The machines that were heard on the network: what they are, what they boot next, what they are told to do. One record a machine,
 * whichever of its cards it was heard by. On the disk before anybody is told, but for when a machine was seen last, that a new one
 * was heard and how far an order is, which follow within a second. Needs a store, a clock and randomness; knows no socket and no Kubernetes object.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";
import { type Mac, parseMac } from "../../base/mac.ts";
import { type Random, uuid } from "../../base/random.ts";
import type { Inventory, Order, OrderBody, Progress, Registered, Result } from "../agent/protocol.ts";
import { type BootAction, type Host, type HostChange, type HostRecord, hostName, openOrder } from "./host.ts";
import type { HostStore } from "./host-store.ts";
import { type Durability, HostRecords } from "./records.ts";
import { afterRestart, identify } from "./registration.ts";

export interface HostsOptions {
  /** Closed with the hosts. */
  store: HostStore;
  clock: Pick<Clock, "now" | "after">;
  /** For tokens: `cryptoRandom` for real machines. */
  random: Random;
  /** Records at one time, 10,000 unless told otherwise. A new one takes the place of the one that was merely heard longest ago. */
  most?: number;
  /** What a machine boots of which nobody said anything: the agent, unless told otherwise. */
  usualBoot?: BootAction;
}

/** What DHCP or a boot script's request tells of a machine. */
export type Heard = Pick<Host, "mac" | "address" | "architecture" | "firmware">;

/** Every host token begins so: logs know by it what they must not repeat. */
export const TOKEN_PREFIX = "slh_";

const MOST_HOSTS = 10_000;

export class Hosts {
  readonly #records: HostRecords;
  readonly #clock: Pick<Clock, "now">;
  readonly #random: Random;
  readonly #most: number;
  readonly #usualBoot: BootAction;
  readonly #listeners = new Set<(change: HostChange) => void>();
  /** Wakes who waits for an order, by host. */
  readonly #waiting = new Map<string, () => void>();
  #closed = false;

  constructor({ store, clock, random, most = MOST_HOSTS, usualBoot = "agent" }: HostsOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#most = most;
    this.#usualBoot = usualBoot;
    this.#records = new HostRecords(store, clock, (record) =>
      record.bootChosen ? record : { ...record, host: { ...record.host, boot: usualBoot } },
    );
  }

  /** Notes that a machine was heard. Undefined: it is not known and there is no room. Throws a `RangeError` for what is no MAC. */
  heard({ mac, address, architecture, firmware }: Heard): Readonly<Host> | undefined {
    const said = { ...(address && { address }), ...(architecture && { architecture }), ...(firmware && { firmware }) };
    const known = this.#records.find(mac);
    const record = known ?? this.#newRecord(parseMac(mac));
    if (record === undefined) return undefined;
    const now = this.#clock.now();
    const news =
      known === undefined || Object.entries(said).some(([key, value]) => known.host[key as keyof Host] !== value);
    return this.#change(record, { ...said, lastSeen: now }, { durability: "soon", quietly: !news });
  }

  /** What the machine boots next, known or not. */
  bootOf(mac: Mac): BootAction {
    return this.#records.find(mac)?.host.boot ?? this.#usualBoot;
  }

  /** Says what a host boots from now on. Throws a `Fault` (`NotFound`). */
  setBoot(nameOrMac: string, boot: BootAction): void {
    this.#change({ ...this.#known(nameOrMac), bootChosen: true }, { boot });
  }

  /**
   * Takes a machine's report and gives it its name and token. `mac` is the one that the machine proved to have; records of its other cards
   * that were merely heard are joined with it. An order that it had taken ends here. A capability that was used from one address is
   * good for repeating that, and not from another. Throws a `Fault`: `NoCapacity`, or `Forbidden` for such a capability.
   */
  register(inventory: Inventory, mac: Mac, by?: { capability: string; address: string }): Registered {
    const came = by && { by: hashOf(by.capability), from: by.address };
    const last = this.#records.find(mac)?.came;
    if (came !== undefined && last?.by === came.by && last.from !== came.from)
      throw new Fault(
        "Forbidden",
        mac,
        `has registered from ${last.from} by this boot's capability, not from ${came.from}`,
      );
    const token = TOKEN_PREFIX + Buffer.from(this.#random.bytes(32)).toString("base64url");
    const host = this.#report(inventory, parseMac(mac), { tokenHash: hashOf(token), ...(came && { came }) });
    return { host: host.name, token };
  }

  /** Takes a newer report of a registered host, as its `inspect` order asks for. Throws a `Fault` (`NotFound`). */
  inspected(name: string, inventory: Inventory): void {
    this.#report(inventory, this.#known(name).host.mac);
  }

  /** The host that was given this token when it registered last. */
  byToken(token: string): Readonly<Host> | undefined {
    return this.#records.byToken(hashOf(token))?.host;
  }

  /** All, in the order in which they were heard first. */
  list(): Readonly<Host>[] {
    const hosts = Array.from(this.#records.all(), (record) => record.host);
    return hosts.sort((a, b) => a.firstSeen - b.firstSeen || (a.name < b.name ? -1 : 1));
  }

  /** By its name, or by any of its cards in any notation. */
  get(nameOrMac: string): Readonly<Host> | undefined {
    return this.#records.find(nameOrMac)?.host;
  }

  /**
   * Tells a host what to do; it takes it at once when it waits, else when it asks next. `body` may be made of the order's id, so that what the
   * order names can be offered for just this order. Throws a `Fault`: `NotFound`, or `Conflict` while an order has no result.
   */
  give(nameOrMac: string, body: OrderBody | ((id: string) => OrderBody)): Order {
    const record = this.#known(nameOrMac);
    const open = openOrder(record.host);
    if (open !== undefined)
      throw new Fault("Conflict", record.host.name, `its order "${open.is.order}" has no result yet`, {
        remedy: `wait for its end, or: slipway order cancel ${record.host.name}`,
      });
    const id = uuid(this.#random);
    const is: Order = { id, ...(typeof body === "function" ? body(id) : body) };
    this.#change(record, { order: { is, givenAt: this.#clock.now() } });
    this.#waiting.get(record.host.name)?.();
    return is;
  }

  /** Whether this order was given to the host and has no result. */
  isOpen(name: string, id: string): boolean {
    return this.#open(name, id) !== undefined;
  }

  /**
   * The host's order, as soon as there is one; undefined once `signal` is aborted, another asks for the same host, or this is closed. An
   * order without a result is given every time: nobody knows whether the last answer arrived. Throws a `Fault` (`NotFound`).
   */
  async nextOrder(name: string, signal: AbortSignal): Promise<Order | undefined> {
    const asking = this.#known(name);
    this.#change(asking, { lastSeen: this.#clock.now() }, { durability: "soon", quietly: true });
    this.#waiting.get(name)?.();
    if (openOrder(asking.host) === undefined && !signal.aborted && !this.#closed) await this.#wait(name, signal);
    const record = this.#records.find(name);
    const order = record && openOrder(record.host);
    if (order === undefined || signal.aborted || this.#closed) return undefined;
    if (order.takenAt === undefined) this.#change(record!, { order: { ...order, takenAt: this.#clock.now() } });
    return order.is;
  }

  /** Notes how far an order is. False: it is not the host's, or has ended. */
  progress(name: string, id: string, progress: Progress): boolean {
    const open = this.#open(name, id);
    if (open === undefined) return false;
    const { record, order } = open;
    this.#change(record, { order: { ...order, progress }, lastSeen: this.#clock.now() }, { durability: "soon" });
    return true;
  }

  /** Notes how an order ended: what the host says, or for a host that never will, what its owner decides. False as in `progress`. */
  result(name: string, id: string, result: Result): boolean {
    const open = this.#open(name, id);
    if (open === undefined) return false;
    this.#change(open.record, { order: { ...open.order, result, endedAt: this.#clock.now() } });
    return true;
  }

  /** Calls `listener` after every change, until the returned function is called. It must not throw. */
  onChange(listener: (change: HostChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Forgets a host; when it is heard again it is a new one. False: it is not known. */
  forget(nameOrMac: string): boolean {
    const record = this.#records.find(nameOrMac);
    if (record === undefined) return false;
    this.#records.remove(record, "now");
    this.#waiting.get(record.host.name)?.();
    this.#tell({ is: "gone", name: record.host.name });
    return true;
  }

  /** Ends every wait, writes what is not written yet, closes the store. */
  close(): void {
    this.#closed = true;
    for (const wake of this.#waiting.values()) wake();
    this.#records.close();
  }

  #known(nameOrMac: string): HostRecord {
    const record = this.#records.find(nameOrMac);
    if (record === undefined) throw new Fault("NotFound", nameOrMac.slice(0, 64), "no such host was heard");
    return record;
  }

  #open(name: string, id: string): { record: HostRecord; order: NonNullable<Host["order"]> } | undefined {
    const record = this.#records.find(name);
    const order = record && openOrder(record.host);
    return order?.is.id === id ? { record: record!, order } : undefined;
  }

  #newRecord(mac: Mac): HostRecord | undefined {
    if (this.#records.size >= this.#most) {
      const oldest = this.#records.oldestHeard();
      if (oldest === undefined) return undefined;
      this.#records.remove(oldest, "soon");
      this.#tell({ is: "gone", name: oldest.host.name });
    }
    const now = this.#clock.now();
    const host = { name: hostName(mac), mac, macs: [mac], firstSeen: now, lastSeen: now, boot: this.#usualBoot };
    return { host, bootChosen: false };
  }

  /** `anew`: how the machine came and the token that it gets, where it begins anew. */
  #report(inventory: Inventory, mac: Mac, anew?: Pick<HostRecord, "tokenHash" | "came">): Readonly<Host> {
    const now = this.#clock.now();
    const { record: known, absorbed, macs } = identify(mac, inventory, (card) => this.#records.find(card));
    const record = known ?? this.#newRecord(mac);
    if (record === undefined)
      throw new Fault("NoCapacity", mac, `there are ${this.#most} hosts already`, {
        remedy: "forget those that are gone",
      });
    const { order } = record.host;
    // The card that it came up with is the one that has an address now.
    const address = [...absorbed, record].find((each) => each.host.macs.includes(mac))?.host.address;
    return this.#change(
      { ...record, ...anew },
      {
        macs: [...new Set([record.host.mac, ...macs])],
        lastSeen: now,
        architecture: inventory.architecture,
        firmware: inventory.firmware.kind,
        inventory,
        inventoryAt: now,
        ...(address === undefined ? {} : { address }),
        ...(order === undefined || anew === undefined ? {} : { order: afterRestart(order, now) }),
      },
      { absorbed },
    );
  }

  #change(
    record: HostRecord,
    change: Partial<Host>,
    how: { durability?: Durability; quietly?: boolean; absorbed?: readonly HostRecord[] } = {},
  ): Readonly<Host> {
    const { durability = "now", quietly = false, absorbed = [] } = how;
    const host: Host = { ...record.host, ...change };
    this.#records.put({ ...record, host }, durability, absorbed);
    for (const each of absorbed) this.#tell({ is: "gone", name: each.host.name, into: host.name });
    if (!quietly) this.#tell({ is: "changed", host });
    return host;
  }

  #wait(name: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        if (this.#waiting.get(name) === wake) this.#waiting.delete(name);
        resolve();
      };
      signal.addEventListener("abort", wake);
      this.#waiting.set(name, wake);
    });
  }

  #tell(change: HostChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
