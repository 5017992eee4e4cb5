import type { Clock } from "@slipway/base";
import type { LeaseStore } from "./lease.ts";

/** Less is no step: two clocks are never read at one moment. */
const LEAST_STEP_MS = 1_000;

/** Time as clients measure their leases: it goes on as it passes, wherever the machine's clock is set meanwhile. */
export interface LeaseTime {
  /** Milliseconds since the epoch, by the clock as it was at the start. */
  now(): number;
  /** A moment of this time as the clock has it now: for what others see. */
  toWall(at: number): number;
}

/** Lease time that agrees with the clock now, and departs from it when that one is set. */
export function leaseTime(clock: Pick<Clock, "now" | "monotonic">): LeaseTime {
  const beganAt = clock.now() - clock.monotonic();
  const now = (): number => Math.round(beganAt + clock.monotonic());
  return {
    now,
    toWall(at) {
      const off = clock.now() - now();
      return Math.abs(off) < LEAST_STEP_MS ? at : at + off;
    },
  };
}

/** The store for leases of this process: ends are written by the clock, since the next process has no other. */
export function inWallTime(store: LeaseStore, time: LeaseTime): LeaseStore {
  return {
    load: () => store.load(),
    ...(store.doubtful && { doubtful: store.doubtful }),
    put: (lease) => store.put({ ...lease, expiresAt: time.toWall(lease.expiresAt) }),
    close: () => store.close(),
  };
}
