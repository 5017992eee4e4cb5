import type { Clock } from "@slipway/base";

/** Waits for the work, but no longer than `ms`. */
export async function within(clock: Pick<Clock, "after">, ms: number, work: Promise<unknown>): Promise<void> {
  const timeUp = Promise.withResolvers<void>();
  const timer = clock.after(ms, timeUp.resolve);
  await Promise.race([work, timeUp.promise]);
  timer.cancel();
}
