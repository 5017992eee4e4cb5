import { Fault } from "@slipway/base";
import type { Host, HostChange, HostRecord } from "./host.ts";
import type { Changing, Durability, HostRecords } from "./records.ts";

export interface HostBookPorts {
  records: HostRecords;
  /** Called for each host that is deleted or joins another, before any listener is called. */
  left(name: string): void;
}

/** The records, and the listeners that are called after each change. */
export class HostBook {
  readonly #records: HostRecords;
  readonly #left: HostBookPorts["left"];
  readonly #listeners = new Set<(change: HostChange) => void>();

  constructor({ records, left }: HostBookPorts) {
    this.#records = records;
    this.#left = left;
  }

  /** Calls `listener` after every change, until the returned function is called. It must not throw. */
  onChange(listener: (change: HostChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  notify(change: HostChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  find(nameOrMac: string): HostRecord | undefined {
    return this.#records.find(nameOrMac);
  }

  /** Throws a `Fault` (`NotFound`). */
  known(nameOrMac: string): HostRecord {
    const record = this.#records.find(nameOrMac);
    if (record === undefined) throw new Fault("NotFound", nameOrMac.slice(0, 64), "no such host was seen");
    return record;
  }

  /** Puts the record with this change in the place of the one before. `quietly`: no listener is called for the change. */
  change(
    record: HostRecord,
    change: Partial<HostRecord["host"]>,
    how: Changing & { durability?: Durability; quietly?: boolean } = {},
  ): Readonly<Host> {
    const { durability = "now", quietly = false, ...changing } = how;
    const { absorbed = [], leaving = [] } = changing;
    const changed = { ...record, host: { ...record.host, ...change } };
    this.#records.put(changed, durability, changing);
    for (const each of [...absorbed, ...leaving]) this.#left(each.host.name);
    for (const each of absorbed) this.notify({ is: "gone", name: each.host.name, into: changed.host.name });
    for (const each of leaving) this.notify({ is: "gone", name: each.host.name });
    const host = this.shown(changed);
    if (!quietly) this.notify({ is: "changed", host });
    return host;
  }

  remove(record: HostRecord): void {
    const { name } = record.host;
    this.#records.remove(record, "now");
    this.#left(name);
    this.notify({ is: "gone", name });
  }

  /** As others see it: with its inventory for who asks for that by name. */
  shown(record: HostRecord): Readonly<Host>;
  shown(record: HostRecord | undefined): Readonly<Host> | undefined;
  shown(record: HostRecord | undefined): Readonly<Host> | undefined {
    if (record === undefined || record.host.inventoryAt === undefined) return record?.host;
    const { name } = record.host;
    return Object.defineProperty({ ...record.host }, "inventory", { get: () => this.#records.inventoryOf(name) });
  }
}
