/**
 * Time as an argument. Nothing outside `base/` reads the wall clock or starts a timer by itself;
 * it is given a `Clock`, so the same code runs in production and in virtual time.
 */
export interface Clock {
  /** Milliseconds since the epoch, as the machine has it: it may be set forward or back at any time. For moments that others see. */
  now(): number;
  /** Milliseconds since some moment; never goes back and is never set. For every duration and deadline inside the process. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `fn` once after `ms`. `fn` must not throw; the caller owns the timer and cancels it. */
  after(ms: number, fn: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** The longest delay that the platform's timers take; longer ones are split. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The machine's clock. Its timers keep the process alive until they fire or are cancelled. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleepWith(systemClock, ms, signal),
  after(ms, fn) {
    let handle: NodeJS.Timeout;
    const arm = (left: number): void => {
      const step = Math.min(Math.max(0, left), MAX_DELAY_MS);
      handle = setTimeout(() => (left > step ? arm(left - step) : fn()), step);
    };
    arm(ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** How fast a steady clock gives way: a tenth, as chrony does. */
const SLEW = 0.1;
/** A machine that learns the date only after it has started. */
const FOLLOW_AT_ONCE_MS = 86_400_000;

/**
 * The clock for moments that are written down and later measured from: where the machine's is set forward or back, this one goes a
 * tenth faster or slower until it agrees, so a deadline that counts from such a moment is at most that much off. A day or more is
 * followed at once.
 */
export function steadyClock(clock: Clock): Clock {
  let wall = clock.now();
  let readAt = clock.monotonic();
  return {
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    after: (ms, fn) => clock.after(ms, fn),
    now() {
      const passed = clock.monotonic() - readAt;
      readAt += passed;
      wall += passed;
      const off = clock.now() - wall;
      const most = SLEW * passed;
      wall += Math.abs(off) >= FOLLOW_AT_ONCE_MS ? off : Math.max(-most, Math.min(most, off));
      return Math.round(wall);
    },
  };
}

/** `sleep` in terms of `after`, for any clock. */
export function sleepWith(clock: Pick<Clock, "after">, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** A signal that aborts with a `TimeoutError` after `ms` of the given clock, or with `parent`. Call `done` when the work is over. */
export function deadline(clock: Clock, ms: number, parent?: AbortSignal): { signal: AbortSignal; done: () => void } {
  const controller = new AbortController();
  const timer = clock.after(ms, () => controller.abort(new DOMException(`no answer within ${ms} ms`, "TimeoutError")));
  const onParent = (): void => controller.abort(parent?.reason);
  if (parent?.aborted) onParent();
  parent?.addEventListener("abort", onParent, { once: true });
  return {
    signal: controller.signal,
    done: () => {
      timer.cancel();
      parent?.removeEventListener("abort", onParent);
    },
  };
}

/** The second that was written last: all objects of one second share its text. */
let second = { at: 0, text: "1970-01-01T00:00:00Z" };

/** RFC 3339 as Kubernetes writes `metav1.Time`: UTC, whole seconds. */
export function rfc3339(ms: number): string {
  const at = Math.floor(ms / 1000);
  if (second.at !== at) second = { at, text: new Date(at * 1000).toISOString().replace(".000Z", "Z") };
  return second.text;
}

/** RFC 3339 with six digits of a second, as Kubernetes writes `metav1.MicroTime`. */
export function rfc3339Micro(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

/** RFC 3339 with milliseconds: how Slipway's own status fields keep a moment. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Milliseconds since the epoch of an RFC 3339 text; undefined when it is absent or not a time. */
export function parseTime(text: string | null | undefined): number | undefined {
  const ms = text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
