import type { Clock, Timer } from "@slipway/base";

/** Changes that come together are drawn once. */
const GATHER_MS = 100;
/** Ages go on without a change. */
const TICK_MS = 1000;

/** Begins to follow what is looked at; resolves when that is known. Calls `changed` with each later change, until `signal` is aborted. */
export type Begin = (changed: () => void, signal: AbortSignal) => Promise<unknown>;

/** Looks at once, after each change, and with `ticks` each second, until `signal` is aborted. */
export async function liveLook(
  clock: Clock,
  { begin, look, signal, ticks }: { begin: Begin; look: () => void; signal: AbortSignal; ticks: boolean },
): Promise<void> {
  const soon = new Soon(clock);
  const again = (): void => {
    if (signal.aborted) return;
    look();
    if (ticks) soon.in(TICK_MS, again);
  };
  try {
    await begin(() => soon.in(GATHER_MS, again), signal);
    again();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  } finally {
    soon.cancel();
  }
}

/** One call that is due; of two the earlier one stands. */
class Soon {
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #due = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  in(ms: number, call: () => void): void {
    const due = this.#clock.monotonic() + ms;
    if (due >= this.#due) return;
    this.cancel();
    this.#due = due;
    this.#timer = this.#clock.after(ms, () => {
      this.#due = Number.POSITIVE_INFINITY;
      call();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#due = Number.POSITIVE_INFINITY;
  }
}
