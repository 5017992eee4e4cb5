import type { Clock } from "@slipway/base";

/**
 * Lets `qps` calls per second through on average and `burst` at once (a token bucket). Callers pass in the order in which they asked.
 */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #qps: number;
  readonly #burst: number;
  #tokens: number;
  #countedAt: number;

  constructor(clock: Clock, limits: { qps: number; burst: number }) {
    if (!(limits.qps > 0) || !(limits.burst >= 1))
      throw new RangeError(`rate limit: qps ${limits.qps}, burst ${limits.burst}`);
    this.#clock = clock;
    this.#qps = limits.qps;
    this.#burst = limits.burst;
    this.#tokens = limits.burst;
    this.#countedAt = clock.monotonic();
  }

  /** Takes a token now, or none. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Resolves when the caller's turn has come; rejects with the signal's reason. An aborted caller's turn is given back. */
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#refill();
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    // A negative balance is the queue: each caller sleeps for as long as its own token takes to drop.
    try {
      await this.#clock.sleep((-this.#tokens / this.#qps) * 1000, signal);
    } catch (reason) {
      this.#tokens += 1;
      throw reason;
    }
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    const passed = now - this.#countedAt;
    this.#tokens = Math.min(this.#burst, this.#tokens + (passed / 1000) * this.#qps);
    this.#countedAt = now;
  }
}
