/** Changes of its Instances reach a pool this often at most: machines on their way change many times a second. */
const LEAST_MS = 250;
/**
 * So many Instances of one pool are gone through in a second at most. Twice the machines take twice as long to come up, with twice as
 * many Instances at each look: at a fixed pace, the looks at a pool of ten thousand would cost more than its machines.
 */
const INSTANCES_A_SECOND = 4_000;

/** How often each pool's Instances are gone through: the work is in proportion to the time, whatever the size of the pool. */
export class PoolPace {
  readonly #nextAt = new Map<string, number>();

  /** How long the pool rests from `now` on, in ms of a monotonic clock; 0 and less: it may be looked at. */
  restMs(pool: string, now: number): number {
    return (this.#nextAt.get(pool) ?? now) - now;
  }

  /** Notes a look at a pool of `size` Instances. */
  looked(pool: string, now: number, size: number): void {
    this.#nextAt.set(pool, now + Math.max(LEAST_MS, (size * 1000) / INSTANCES_A_SECOND));
  }

  forget(pool: string): void {
    this.#nextAt.delete(pool);
  }
}
