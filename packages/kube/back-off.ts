import type { Random } from "@slipway/base";

export interface BackOff {
  baseMs: number;
  maxMs: number;
  /** The part of the delay that is random, 0 to 1: the delay lies between `(1 - jitter) · full` and `full`. */
  jitter: number;
}

/** `baseMs · 2^failures`, at most `maxMs`, spread by the jitter. */
export function backOffMs(backOff: BackOff, failures: number, random: Random): number {
  const full = Math.min(backOff.maxMs, backOff.baseMs * 2 ** Math.min(failures, 40));
  return backOff.jitter === 0 ? full : full * (1 - backOff.jitter * random.fraction());
}
