import type { Ipv4 } from "../wire/ipv4.ts";

export interface Range {
  first: Ipv4;
  last: Ipv4;
}

const MOST_AHEAD = 64;

/**
 * The addresses that any client may get, handed out in turn, so that one just given back rests for as long as possible. Where none is
 * free, the one whose offer was not taken up for longest is offered again.
 */
export class Pool {
  readonly #ranges: readonly Range[];
  readonly size: number;
  #next = 0;
  /** No address is free before this moment, as long as nothing has changed. */
  #full = { until: 0, change: 0 };
  /** What was offered; the one that was offered longest ago stands first. */
  readonly #offered = new Set<Ipv4>();

  constructor(ranges: readonly Range[]) {
    this.#ranges = ranges;
    this.size = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  }

  contains(address: Ipv4): boolean {
    return this.#ranges.some(({ first, last }) => first <= address && address <= last);
  }

  /**
   * The next address that is free. `takenUntil` returns the end of an address's use, 0 for a free one; `change` is another number
   * once one of these moments has moved forward. A full pool is searched once, and then not again before one of its addresses comes free.
   */
  take(takenUntil: (address: Ipv4) => number, now: number, change: number): Ipv4 | undefined {
    if (now < this.#full.until && change === this.#full.change) return undefined;
    let earliest = Number.POSITIVE_INFINITY;
    for (let tried = 0; tried < this.size; tried++) {
      const address = this.#address(this.#next);
      this.#next = (this.#next + 1) % this.size;
      const until = takenUntil(address);
      if (until === 0) return address;
      earliest = Math.min(earliest, until);
    }
    this.#full = { until: earliest, change };
    return undefined;
  }

  /** The addresses that `take` tries next, in its order; only the first of a large pool. */
  *ahead(): Iterable<Ipv4> {
    const most = Math.min(this.size, MOST_AHEAD);
    for (let i = 0; i < most; i++) yield this.#address((this.#next + i) % this.size);
  }

  /** Notes that an address was offered, by `take` or otherwise. */
  offered(address: Ipv4): void {
    if (!this.contains(address)) return;
    this.#offered.delete(address);
    this.#offered.add(address);
  }

  /** The address that is still merely offered, and that for longest. */
  takeOffered(isMerelyOffered: (address: Ipv4) => boolean): Ipv4 | undefined {
    for (const address of this.#offered) {
      this.#offered.delete(address);
      if (isMerelyOffered(address)) return address;
    }
    return undefined;
  }

  #address(index: number): Ipv4 {
    let left = index;
    for (const { first, last } of this.#ranges) {
      if (left <= last - first) return first + left;
      left -= last - first + 1;
    }
    throw new RangeError(`address ${index} of ${this.size}`);
  }
}
