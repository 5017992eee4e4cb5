/**
 * The machines that were seen on the network: what they are, what they boot next, what they are ordered to do. One record a machine,
 * whichever of its cards it was seen by. On the disk before any listener is called, but for when a machine was seen last, that a new one
 * was seen and how far an order is, which follow within a second. Needs a store, a clock and randomness; knows no socket and no Kubernetes object.
 */
import { createHash } from "node:crypto";
import { type Clock, Fault, isFault, type Mac, parseMac, type Random } from "@slipway/base";
import type { Inventory, Order, OrderBody, Progress, Registered, Result } from "../protocol/messages.ts";
import type { TpmIdentity } from "../tpm/identify.ts";
import { HostBook } from "./book.ts";
import { Disputes } from "./disputes.ts";
import type { Bounds } from "./eviction.ts";
import {
  type BootAction,
  type Host,
  type HostChange,
  type HostRecord,
  hostName,
  isMerelySeen,
  type NextBoot,
  openInstall,
} from "./host.ts";
import type { HostStore } from "./host-store.ts";
import { Installs } from "./installs.ts";
import type { Makers } from "./maker-doubt.ts";
import { Orders } from "./orders.ts";
import { Paces } from "./paces.ts";
import { pack } from "./packed-inventory.ts";
import { HostRecords, LINK } from "./records.ts";
import {
  type Arrival,
  afterRestart,
  begun,
  claimedCardsOf,
  mayReplace,
  type NewSession,
  sessionOf,
} from "./registration.ts";
import { Silence } from "./silence.ts";
import { Standings } from "./standings.ts";
import { approvalOf, type Declaration, type Standing, type TrustSetting } from "./trust.ts";
import { isTwin, united } from "./twins.ts";

export interface HostsOptions {
  /** Closed with the hosts. */
  store: HostStore;
  clock: Pick<Clock, "now" | "monotonic" | "after">;
  /** For tokens: `cryptoRandom` for real machines. */
  random: Random;
  /** How much there may be; `eviction.ts` says who leaves. Default: `BOUNDS`. */
  bounds?: Partial<Bounds>;
  /** What an unknown machine boots. Default: the agent. */
  usualBoot?: BootAction;
  /** Whether all who register are trusted, or only declared and approved machines. Default: the latter. */
  trust?: TrustSetting;
  /** Whether a cluster says by `declare` what it knows of each host: none is trusted before. Default: there is no cluster. */
  hasCluster?: boolean;
  /** Authorities of which one has to vouch for a TPM, for an approval by it. Unset: none has to. */
  makers?: Makers | undefined;
}

/** What DHCP or a boot script's request shows of a machine. */
export type Sighting = Pick<Host, "mac" | "address" | "architecture" | "firmware"> & {
  /** Where: `link`, the default, or `relay:GIADDR/CIRCUIT`. Only of a machine that is new it is noted. */
  source?: string;
};

/** Every host token begins so: logs know by it what they must not repeat. */
export const TOKEN_PREFIX = "slh_";

/** What a file of hosts may hold. */
export const BOUNDS: Bounds = {
  hosts: 10_000,
  bytes: 128 * 1024 * 1024,
  hostsPerSource: 5_000,
  bytesPerSource: 32 * 1024 * 1024,
};

/** All machines that were seen: who they are, what they may have, and their orders. The only place that changes them. */
export class Hosts {
  /** Which of them start an installer. */
  readonly installs: Installs;
  readonly #records: HostRecords;
  readonly #book: HostBook;
  readonly #clock: Pick<Clock, "now">;
  readonly #random: Random;
  readonly #usualBoot: BootAction;
  readonly #makers: Makers;
  readonly #disputes: Disputes;
  readonly #silence: Silence;
  readonly #paces: Paces;
  readonly #standings: Standings;
  readonly #orders: Orders;

  constructor({
    store,
    clock,
    random,
    bounds,
    usualBoot = "agent",
    trust = "approved",
    hasCluster = false,
    makers,
  }: HostsOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#usualBoot = usualBoot;
    this.#silence = new Silence(clock);
    this.#paces = new Paces(clock);
    this.#makers = makers;
    this.#standings = new Standings({ setting: trust, hasCluster, makers });
    this.#disputes = new Disputes(clock, (host, because) => this.#book.notify({ is: "refused", host, because }));
    this.#records = new HostRecords({
      isKept: (record) => this.#standings.isKept(record),
      ...{ store, clock, bounds: { ...BOUNDS, ...bounds } },
      restored: (record) => (record.bootChosen ? record : { ...record, host: { ...record.host, boot: usualBoot } }),
    });
    this.#book = new HostBook({ records: this.#records, left: (name) => this.#forgetOf(name) });
    const shared = { book: this.#book, standings: this.#standings, disputes: this.#disputes, clock };
    this.#orders = new Orders({ ...shared, random });
    this.installs = new Installs(shared);
  }

  /** Hosts that the store has and may not lose, and that there is no room for. */
  get unread(): number {
    return this.#records.unread;
  }

  /** How many there are, and what they take on the disk. */
  get size(): { hosts: number; bytes: number } {
    return { hosts: this.#records.size, bytes: this.#records.bytes };
  }

  /** Notes that a machine was seen. Undefined: it is not known and there is no room. Throws a `RangeError` for what is no MAC. */
  seen({ mac, address, architecture, firmware, source = LINK }: Sighting): Readonly<Host> | undefined {
    const said = { ...(address && { address }), ...(architecture && { architecture }), ...(firmware && { firmware }) };
    const known = this.#records.find(mac);
    if (known === undefined && !this.#paces.mayBeNew(source)) return undefined;
    const record = known ?? this.#newRecord(parseMac(mac), source);
    const leaving = known === undefined ? this.#records.room(record) : [];
    if (leaving === undefined) return undefined;
    const now = this.#clock.now();
    const news =
      known === undefined ||
      Object.entries(said).some(([key, value]) => known.host[key as keyof typeof known.host] !== value);
    return this.#book.change(record, { ...said, lastSeen: now }, { durability: "soon", quietly: !news, leaving });
  }

  /** What the machine boots next, known or not. */
  bootOf(mac: Mac): NextBoot {
    const host = this.#records.find(mac)?.host;
    if (host !== undefined && openInstall(host) !== undefined) return "installer";
    return host?.boot ?? this.#usualBoot;
  }

  /** Says what a host boots from now on, in the place of an installer, too. Throws a `Fault` (`NotFound`). */
  setBoot(nameOrMac: string, boot: BootAction): void {
    const record = this.#book.known(nameOrMac);
    const { install: _, ...host } = record.host;
    const isOver = openInstall(record.host) !== undefined;
    this.#book.change({ ...record, host: isOver ? host : record.host, bootChosen: true }, { boot });
  }

  /**
   * Takes a machine's report and gives it its name and token. `mac` is the card that it speaks by; other cards that it names are only
   * claims. The token is good where the machine came from; without `by`, nowhere. An order that it had taken ends here. Throws a
   * `Fault`: `NoCapacity`; `Throttled` when it comes too often; `Invalid` for a report that is too large; `Forbidden` for a capability that was used from another address; `Conflict` while the agent that is
   * registered carries out an order, which the listeners see as a refusal.
   */
  register(inventory: Inventory, mac: Mac, by?: Omit<Arrival, "card">): Registered {
    const now = this.#clock.now();
    const card = parseMac(mac);
    const capability = by?.capability === undefined ? undefined : hashOf(by.capability);
    const known = this.#records.find(card);
    if (known !== undefined && by !== undefined)
      try {
        mayReplace(known, { ...by, card }, capability, this.#silence.ms(known.host.name));
      } catch (error) {
        if (isFault(error, "Conflict")) this.#disputes.refuse(known.host, error.message.replace(`${error.on}: `, ""));
        throw error;
      }
    this.#paces.checkRegistration(card, known);
    const token = TOKEN_PREFIX + Buffer.from(this.#random.bytes(32)).toString("base64url");
    const host = this.#report(inventory, card, {
      tokenHash: hashOf(token),
      ...(capability !== undefined && { cameBy: capability }),
      session: by && sessionOf({ ...by, card }, now, known?.host.session),
    });
    this.#silence.ended(host.name);
    return { host: host.name, token };
  }

  /** Notes that the host's agent made a request. */
  spoke(name: string): void {
    const record = this.#records.find(name);
    if (record?.host.session === undefined) return;
    const now = this.#clock.now();
    this.#silence.ended(name);
    const session = { ...record.host.session, spokeAt: now };
    this.#book.change(record, { session, lastSeen: now }, { durability: "soon", quietly: true });
  }

  /**
   * Joins a card to a host that names it and has just spoken by it; a record of the card that was merely seen goes into the host's, and so does
   * a second one of the same machine (`twins.ts`). Throws
   * a `Fault`: `NotFound`, `Forbidden` for a card that the host does not name, `Conflict` for one that is another's, which is reported for both.
   */
  join(name: string, mac: Mac): void {
    const record = this.#book.known(name);
    const card = parseMac(mac);
    if (record.host.macs.includes(card)) return;
    if (!this.#records.inventoryOf(name)?.cards.some((each) => each.mac === card))
      throw new Fault("Forbidden", name, `${card} is not among the cards that it reports`);
    const other = this.#records.find(card);
    const isSecond = other !== undefined && !isMerelySeen(other);
    if (isSecond && !this.#areTwins(record, other)) {
      this.#disputes.over(card, this.#book.shown(record), this.#book.shown(other));
      throw new Fault("Conflict", name, `${card} is ${other.host.name}'s`);
    }
    const macs = [...new Set([...record.host.macs, card, ...(other?.host.macs ?? [])])];
    const whole = isSecond ? united(record, other) : record;
    this.#book.change(whole, { macs }, { absorbed: other === undefined ? [] : [other] });
  }

  #areTwins(record: HostRecord, other: HostRecord): boolean {
    const inventoryOf = (each: HostRecord): Inventory | undefined => this.#records.inventoryOf(each.host.name);
    const silentMs = this.#silence.ms(other.host.name);
    return isTwin(
      { record, inventory: inventoryOf(record) },
      { record: other, inventory: inventoryOf(other), silentMs },
    );
  }

  /** Takes a newer report of a registered host, as its `inspect` order asks for. Throws a `Fault` (`NotFound`). */
  inspected(name: string, inventory: Inventory): void {
    this.#report(inventory, this.#book.known(name).host.mac);
  }

  /** The host that was given this token when it registered last. */
  byToken(token: string): Readonly<Host> | undefined {
    return this.#book.shown(this.#records.byToken(hashOf(token)));
  }

  /** All, in the order in which they were seen first. */
  list(): Readonly<Host>[] {
    const hosts = Array.from(this.#records.all(), (record) => this.#book.shown(record));
    return hosts.sort((a, b) => a.firstSeen - b.firstSeen || (a.name < b.name ? -1 : 1));
  }

  /** By its name, or by any of its cards in any notation. */
  get(nameOrMac: string): Readonly<Host> | undefined {
    return this.#book.shown(this.#records.find(nameOrMac));
  }

  /**
   * Gives a host an order; it takes it at once when it waits, else when it asks next. `body` may be made of the order's id, so that what the
   * order names can be offered for just this order. With an id of the caller's, the order that has it already is not given again. Throws a `Fault`: `NotFound`, `Conflict` while an order has no result, or
   * `Forbidden` for an order that needs more trust than the host has.
   */
  give(nameOrMac: string, body: OrderBody | ((id: string) => OrderBody), id?: string): Order {
    return this.#orders.give(nameOrMac, body, id);
  }

  /** Whether this order was given to the host and has no result. */
  isOpen(name: string, id: string): boolean {
    return this.#orders.isOpen(name, id);
  }

  /**
   * The host's order, as soon as there is one that it is trusted with; undefined once `signal` is aborted, another asks for the same
   * host, or this is closed. An order without a result is given every time: it is not known whether the last answer arrived. Throws a
   * `Fault` (`NotFound`).
   */
  nextOrder(name: string, signal: AbortSignal): Promise<Order | undefined> {
    return this.#orders.next(name, signal);
  }

  /** Notes how far an order is. False: it is not the host's, or has ended. */
  progress(name: string, id: string, progress: Progress): boolean {
    return this.#orders.progress(name, id, progress);
  }

  /** Notes how an order ended: what the host says, or for a host that never will, what its owner decides. False as in `progress`. */
  result(name: string, id: string, result: Result): boolean {
    return this.#orders.result(name, id, result);
  }

  /** How far the host is trusted now, and why. Throws a `Fault` (`NotFound`). */
  standing(nameOrMac: string): Standing {
    return this.#standings.of(this.#book.known(nameOrMac).host);
  }

  /** Throws a `Fault`: `Forbidden` for an order that needs more trust than the host has, `NotFound`. */
  demandTrust(nameOrMac: string, order: Pick<Order, "order">): void {
    this.#orders.demandTrust(nameOrMac, order);
  }

  /** Trusts the host, or just the boot of it that has this key. Throws a `Fault`: `NotFound`, or `Conflict` for a key that its agent has not, or a TPM that no maker vouches for. */
  approve(nameOrMac: string, key?: string): void {
    const record = this.#book.known(nameOrMac);
    this.#book.change(record, approvalOf(record.host, key, { now: this.#clock.now(), makers: this.#makers }));
    this.#orders.trustChanged(record);
  }

  /** Notes which TPM the agent that is registered has proven to have. Throws a `Fault` (`NotFound`). */
  proved(name: string, tpm: TpmIdentity): void {
    const record = this.#book.known(name);
    this.#book.change(record, { tpm });
    this.#orders.trustChanged(record);
  }

  /** Takes an approval back; what the cluster says stays. Throws a `Fault` (`NotFound`). */
  withdraw(nameOrMac: string): void {
    const record = this.#book.known(nameOrMac);
    const { approval: _, ...host } = record.host;
    this.#book.change({ ...record, host }, {});
  }

  /** Takes what the cluster says of a host. True: that is news. */
  declare(name: string, declaration: Declaration): boolean {
    const record = this.#records.find(name);
    if (record === undefined || !this.#standings.declare(name, declaration)) return false;
    this.#orders.trustChanged(record);
    this.#book.notify({ is: "changed", host: record.host });
    return true;
  }

  /** Calls `listener` after every change, until the returned function is called. It must not throw. */
  onChange(listener: (change: HostChange) => void): () => void {
    return this.#book.onChange(listener);
  }

  /** Forgets a host; when it is seen again it is a new one. False: it is not known. */
  forget(nameOrMac: string): boolean {
    const record = this.#records.find(nameOrMac);
    if (record === undefined) return false;
    this.#book.remove(record);
    return true;
  }

  /** Ends every wait, writes what is not written yet, closes the store. */
  close(): void {
    this.#orders.close();
    this.#records.close();
  }

  #forgetOf(name: string): void {
    this.#standings.forget(name);
    this.#silence.forget(name);
    this.#orders.wake(name);
  }

  #newRecord(mac: Mac, source = LINK): HostRecord {
    const now = this.#clock.now();
    const host = { name: hostName(mac), mac, macs: [mac], firstSeen: now, lastSeen: now, boot: this.#usualBoot };
    return { host, bootChosen: false, ...(source !== LINK && { source }) };
  }

  /** `anew`: the session that begins, where one does. */
  #report(inventory: Inventory, mac: Mac, anew?: NewSession): Readonly<Host> {
    const now = this.#clock.now();
    const before = this.#records.find(mac) ?? this.#newRecord(mac);
    const { key, ...agent } = inventory.agent;
    const packed = pack({ ...inventory, agent }, before.host.name);
    const record = { ...(anew === undefined ? before : begun(before, anew, key)), inventoryBytes: packed.length };
    const { order } = record.host;
    const { product } = inventory.system;
    const change = {
      ...{ lastSeen: now, architecture: inventory.architecture, firmware: inventory.firmware.kind, inventoryAt: now },
      ...(product !== undefined && { product }),
      ...(order === undefined || anew === undefined ? {} : { order: afterRestart(order, now) }),
    };
    const leaving = this.#records.room({ ...record, host: { ...record.host, ...change } });
    if (leaving === undefined)
      throw new Fault("NoCapacity", mac, `there is no room beside ${this.#records.size} hosts`, {
        remedy: "forget those that are gone",
      });
    const host = this.#book.change(record, change, { leaving, inventory: packed });
    this.#disputes.compare(host, claimedCardsOf(inventory, host.macs), (nameOrMac) => {
      const other = this.#records.find(nameOrMac);
      return other === undefined || isMerelySeen(other) ? undefined : this.#book.shown(other);
    });
    return host;
  }
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
