/** How many bytes may be held at one time. */
export interface ByteLimits {
  all: number;
  /** For one owner. */
  each: number;
}

/** Counts the bytes that are held for owners, and refuses what would pass a bound. An owner that holds nothing takes no memory. */
export class ByteBudget {
  readonly #limits: ByteLimits;
  readonly #held = new Map<string, number>();
  #all = 0;

  constructor(limits: ByteLimits) {
    this.#limits = limits;
  }

  /** Bytes held now, for everybody. */
  get held(): number {
    return this.#all;
  }

  /** Reserves bytes for an owner. False: a bound is reached and nothing was reserved. `unbounded` owners are bound by the whole alone. */
  take(owner: string, bytes: number, unbounded = false): boolean {
    const own = (this.#held.get(owner) ?? 0) + bytes;
    if (this.#all + bytes > this.#limits.all || (!unbounded && own > this.#limits.each)) return false;
    this.#all += bytes;
    this.#held.set(owner, own);
    return true;
  }

  /** Gives back what was reserved. */
  give(owner: string, bytes: number): void {
    this.#all -= bytes;
    const left = (this.#held.get(owner) ?? 0) - bytes;
    if (left > 0) this.#held.set(owner, left);
    else this.#held.delete(owner);
  }
}
