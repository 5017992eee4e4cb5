import { signal } from "@preact/signals";
import { systemClock } from "@slipway/base";

/** The browser's clock. */
export const clock = systemClock;

const EVERY_MS = 1_000;

/** The time, each second anew: what shows how long something has taken goes by it. Milliseconds since 1970. */
export const now = signal(clock.now());

/** Starts it. */
export function tick(): void {
  clock.after(EVERY_MS, () => {
    if (!document.hidden) now.value = clock.now();
    tick();
  });
}
