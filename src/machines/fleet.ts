import type { Clock } from "../base/clock.ts";
import type { Machine, MachineDriver } from "./machine.ts";

/** A machine as last seen, or the proof that the provider does not know it. `unlisted`: only a list missed it, which proves nothing. */
export type Sighting = { is: "present"; machine: Machine } | { is: "absent" } | { is: "unlisted" };

/**
 * All machines of one provider account, seen through one list for everybody.
 *
 * However many claims wait, the provider is asked once an interval; a single read follows only a change of one's own
 * or a machine that a list does not show. Answers may be as old as the caller allows.
 */
export class Fleet {
  readonly driver: MachineDriver;
  readonly #clock: Clock;
  readonly #machines = new Map<string, { machine: Machine; seenAt: number; order: number }>();
  /** Counts what was heard: two things of one millisecond have an order too. */
  #heard = 0;
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | undefined;

  constructor(driver: MachineDriver, clock: Clock) {
    this.driver = driver;
    this.#clock = clock;
  }

  /** The machine `id` from a list younger than `maxAgeMs`: who looks again after that time gets a new one. */
  async sight(id: string, maxAgeMs: number): Promise<Sighting> {
    const known = this.#machines.get(id);
    if (known !== undefined && this.#clock.now() - known.seenAt < maxAgeMs)
      return { is: "present", machine: known.machine };
    await this.#list(maxAgeMs);
    const listed = this.#machines.get(id);
    return listed === undefined ? { is: "unlisted" } : { is: "present", machine: listed.machine };
  }

  /** Asks for this one machine: the word that settles whether it exists. */
  async read(id: string): Promise<Sighting> {
    const machine = await this.driver.read(id);
    if (machine !== undefined) return { is: "present", machine: this.note(machine) };
    this.#machines.delete(id);
    return { is: "absent" };
  }

  /** Remembers what a call of one's own answered. */
  note(machine: Machine): Machine {
    this.#machines.set(machine.id, { machine, seenAt: this.#clock.now(), order: ++this.#heard });
    return machine;
  }

  /** Everything the last list showed. */
  async all(maxAgeMs: number): Promise<readonly Machine[]> {
    await this.#list(maxAgeMs);
    return [...this.#machines.values()].map((entry) => entry.machine);
  }

  async #list(maxAgeMs: number): Promise<void> {
    if (this.#clock.now() - this.#listedAt < maxAgeMs) return;
    this.#listing ??= this.#relist().finally(() => {
      this.#listing = undefined;
    });
    await this.#listing;
  }

  async #relist(): Promise<void> {
    const began = this.#clock.now();
    const order = this.#heard;
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
