import { type Clock, systemClock } from "@slipway/base";

/** A clock whose waits end when the test says so, some time later: each is a look of the operator at what it keeps fresh. */
export function handClock(): { clock: Clock; look(laterMs?: number): Promise<void> } {
  let passedMs = 0;
  let wait = Promise.withResolvers<void>();
  let waiting = Promise.withResolvers<void>();
  return {
    clock: {
      ...systemClock,
      now: () => systemClock.now() + passedMs,
      monotonic: () => systemClock.monotonic() + passedMs,
      sleep: (_, signal) => {
        waiting.resolve();
        return new Promise((resolve, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
          void wait.promise.then(resolve);
        });
      },
    },
    async look(laterMs = 0) {
      await waiting.promise;
      passedMs += laterMs;
      const ended = wait;
      wait = Promise.withResolvers();
      waiting = Promise.withResolvers();
      ended.resolve();
      await waiting.promise;
    },
  };
}
