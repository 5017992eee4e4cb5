import type { Inventory } from "../protocol/messages.ts";

/** As text; in memory they take some times as much. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The inventories that were asked for last, in bounded memory. */
export class RecentInventories {
  /** The one that was asked for longest ago stands first. */
  readonly #known = new Map<string, { inventory: Inventory; textBytes: number }>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get(name: string): Inventory | undefined {
    const known = this.#known.get(name);
    if (known === undefined) return undefined;
    this.#known.delete(name);
    this.#known.set(name, known);
    return known.inventory;
  }

  /** Returns the inventory that was read. */
  add(name: string, read: { inventory: Inventory; textBytes: number } | undefined): Inventory | undefined {
    this.forget(name);
    if (read === undefined) return undefined;
    this.#known.set(name, read);
    this.#bytes += read.textBytes;
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= MOST_BYTES || oldest === name) break;
      this.forget(oldest);
    }
    return read.inventory;
  }

  forget(name: string): void {
    this.#bytes -= this.#known.get(name)?.textBytes ?? 0;
    this.#known.delete(name);
  }
}
