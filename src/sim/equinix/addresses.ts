import { type Random, uuid } from "@slipway/base";
import type { SimAddress } from "./device.ts";

const SLOTS = 1 << 17;
/** So many /31 fit into the benchmarking range. */
const BENCHMARKING = 1 << 16;

/**
 * Hands out one slot per device: a public and a private /31 and a /127, never two devices the same at once.
 * Public ones come from the benchmarking range (RFC 2544, 198.18.0.0/15), then from the one that carriers share (RFC 6598, 100.64.0.0/10), and
 * from the documentation range (RFC 3849).
 */
export class AddressPlan {
  #free: number[] = [];
  #next = 0;

  /** What was handed out and given back so far. */
  get taken(): { next: number; free: readonly number[] } {
    return { next: this.#next, free: [...this.#free] };
  }

  set taken({ next, free }: { next: number; free: readonly number[] }) {
    this.#next = next;
    this.#free = [...free];
  }

  take(): number {
    // Slots rest as long as possible: a late packet to a released address should reach no machine.
    if (this.#next < SLOTS) return this.#next++;
    const slot = this.#free.shift();
    if (slot === undefined) throw new RangeError(`more than ${SLOTS} simulated devices`);
    return slot;
  }

  release(slot: number): void {
    this.#free.push(slot);
  }
}

export interface AddressWish {
  family: 4 | 6;
  public: boolean;
}

export const DEFAULT_ADDRESSES: readonly AddressWish[] = [
  { family: 4, public: true },
  { family: 4, public: false },
  { family: 6, public: true },
];

/** An address for a slot of the catalog's ranges: the same slot always gets the same one, with a new id. */
export function addressOf(slot: number, wish: AddressWish, random: Random): SimAddress {
  const id = uuid(random);
  if (wish.family === 6) {
    const group = slot % 0x10000;
    const prefix = slot < 0x10000 ? `2001:db8:${group.toString(16)}` : `2001:db8:${group.toString(16)}:1`;
    return { id, address: `${prefix}::1`, family: 6, public: true, cidr: 127, gateway: `${prefix}::` };
  }
  const host = 2 * slot;
  const shared = wish.public && slot >= BENCHMARKING;
  const [first, second] = shared ? [100, 64] : wish.public ? [198, 18] : [10, 64];
  const dotted = (n: number): string => {
    const at = shared ? n - 2 * BENCHMARKING : n;
    return `${first}.${second + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`;
  };
  return { id, address: dotted(host + 1), family: 4, public: wish.public, cidr: 31, gateway: dotted(host) };
}
