import { type Clock, type Fault, isFault } from "@slipway/base";
import type { Machine, MachineDriver } from "./machine.ts";

/** A machine as last seen, or the proof that the provider does not know it. `unlisted`: only a list missed it, which proves nothing. */
export type Sighting = { is: "present"; machine: Machine } | { is: "absent" } | { is: "unlisted" };

/** So many machines of a list cost one request more. */
const PAGE = 250;
/** Lists bring at most so many machines a second while all are at rest: about 4 Mbit/s (docs/scale.md). */
const AT_REST_PER_S = 100;

/**
 * All machines of one provider account, seen through one list for everybody.
 *
 * However many claims wait, the provider is asked once an interval. A single read follows a change by Slipway itself, a machine that a
 * list does not show, and in an account of thousands a claim that can't wait for the next list. Answers may be as old as the caller allows.
 */
export class Fleet {
  readonly driver: MachineDriver;
  readonly #clock: Clock;
  readonly #machines = new Map<string, { machine: Machine; seenAt: number; order: number }>();
  /** Counts answers: two answers of one millisecond have an order too. */
  #reads = 0;
  #listedAt = Number.NEGATIVE_INFINITY;
  /** How many looks could not wait for the next list: since `since`, and in the interval before. */
  #hurried = { since: Number.NEGATIVE_INFINITY, looks: 0, before: 0 };
  #listing: Promise<void> | undefined;
  #refused: { fault: Fault; until: number } | undefined;

  constructor(driver: MachineDriver, clock: Clock) {
    this.driver = driver;
    this.#clock = clock;
  }

  /** The machine `id` from a list younger than `maxAgeMs`: who looks again after that time gets a new one. */
  async sight(id: string, maxAgeMs: number): Promise<Sighting> {
    const areFew = this.#areFewInHurry(maxAgeMs);
    const known = this.#machines.get(id);
    if (known !== undefined && this.#clock.monotonic() - known.seenAt < maxAgeMs)
      return { is: "present", machine: known.machine };
    if (areFew) return await this.#heeding(() => this.read(id));
    await this.#list(maxAgeMs);
    const listed = this.#machines.get(id);
    return listed === undefined ? { is: "unlisted" } : { is: "present", machine: listed.machine };
  }

  /** How old an answer about a machine at rest may be, at least `leastMs`: the longer an account's list, the less often it is read. */
  restMs(leastMs: number): number {
    return Math.max(leastMs, this.#listEveryMs());
  }

  /** Asks for this one machine: the word that settles whether it exists. */
  async read(id: string): Promise<Sighting> {
    const machine = await this.driver.read(id);
    if (machine !== undefined) return { is: "present", machine: this.note(machine) };
    this.#machines.delete(id);
    return { is: "absent" };
  }

  /** The machine, or the proof that it is gone: what a list does not show is asked for by its id before it is believed. */
  async look(id: string, maxAgeMs: number): Promise<Machine | "gone"> {
    const listed = await this.sight(id, maxAgeMs);
    const seen = listed.is === "unlisted" ? await this.read(id) : listed;
    return seen.is === "present" ? seen.machine : "gone";
  }

  /** Remembers the answer of a call by Slipway itself. */
  note(machine: Machine): Machine {
    this.#machines.set(machine.id, { machine, seenAt: this.#clock.monotonic(), order: ++this.#reads });
    return machine;
  }

  /** Everything the last list showed. */
  async all(maxAgeMs: number): Promise<readonly Machine[]> {
    await this.#list(maxAgeMs);
    return [...this.#machines.values()].map((entry) => entry.machine);
  }

  #listEveryMs(): number {
    return (this.#machines.size / AT_REST_PER_S) * 1000;
  }

  /** Whether this look can't wait for the next list, and so few can't that they cost less than a list of all. */
  #areFewInHurry(maxAgeMs: number): boolean {
    if (maxAgeMs >= this.#listEveryMs()) return false;
    const now = this.#clock.monotonic();
    const { since, looks } = this.#hurried;
    if (now - since >= maxAgeMs) this.#hurried = { since: now, looks: 0, before: looks };
    return Math.max(++this.#hurried.looks, this.#hurried.before) < this.#machines.size / PAGE;
  }

  async #list(maxAgeMs: number): Promise<void> {
    if (this.#clock.monotonic() - this.#listedAt < maxAgeMs) return;
    this.#listing ??= this.#heeding(() => this.#relist()).finally(() => {
      this.#listing = undefined;
    });
    await this.#listing;
  }

  /** After a provider asked to wait, all callers wait, not only the refused one. */
  async #heeding<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#refused !== undefined && this.#clock.monotonic() < this.#refused.until) throw this.#refused.fault;
    this.#refused = undefined;
    try {
      return await ask();
    } catch (error) {
      if (isFault(error) && error.retryAfterMs !== undefined)
        this.#refused = { fault: error, until: this.#clock.monotonic() + error.retryAfterMs };
      throw error;
    }
  }

  async #relist(): Promise<void> {
    const began = this.#clock.monotonic();
    const order = this.#reads;
    const machines = await this.driver.list();
    const listed = new Set(machines.map((machine) => machine.id));
    // What was noted while the list was under way is newer than the list.
    for (const [id, entry] of this.#machines) if (!listed.has(id) && entry.order <= order) this.#machines.delete(id);
    for (const machine of machines) {
      const held = this.#machines.get(machine.id);
      if (held === undefined || held.order <= order) this.#machines.set(machine.id, { machine, seenAt: began, order });
    }
    this.#listedAt = began;
  }
}
