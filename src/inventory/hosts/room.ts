/** Room for so many hosts that are worked on at once, by their keys. */
export class Room {
  readonly #most: number;
  readonly #holders = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether the host has a place, or there is one left. */
  hasFor(key: string): boolean {
    return this.#holders.has(key) || this.#holders.size < this.#most;
  }

  /** Takes a place, where there is one. */
  take(key: string): void {
    if (this.hasFor(key)) this.#holders.add(key);
  }

  leave(key: string): void {
    this.#holders.delete(key);
  }
}
