import type { Clock } from "@slipway/base";
import { hasMoreThan } from "./value.ts";

/** Bodies beyond this many characters take long enough for others to notice. */
const LONG_BODY = 64 * 1024;
/** So do objects with more values. */
const MANY_VALUES = 2000;

/** What of a call says whether it takes long. */
export interface Sized {
  /** The body's text. */
  text?: string | undefined;
  isLong?: boolean | undefined;
}

/**
 * Lets other requests have their turn before a call with a long body, or about a large object, goes on. What was read of the store before may
 * have changed afterwards: to be used only where a write checks it again.
 */
export async function letOthersGo({ text = "", isLong = false }: Sized): Promise<void> {
  if (isLong || text.length > LONG_BODY) await nextTurn();
}

/** From here on, the call lets others go if the object that it is about is large. */
export function noteSize(call: Sized, object: unknown): void {
  if (call.isLong !== true && hasMoreThan(MANY_VALUES, object)) call.isLong = true;
}

/** Resolves when everybody else who waits for a turn has had one. */
export function nextTurn(): Promise<void> {
  return new Promise(setImmediate);
}

/** How long callers without sockets keep everybody else waiting, ms. */
const TURN_MS = 10;
/** So many of those who wait go on in one turn: a call takes about a millisecond. */
const CALLS_A_TURN = 8;

/**
 * Lets timers and sockets have their turn between calls that come without either: each is a microtask, and those of a thousand machines
 * would keep the event loop for a minute. Who comes after 10 ms of a turn waits for a later one, at a cost that does not depend on how
 * many wait; who comes earlier goes on, so what was begun is ended first. Waiting calls go on lane by lane in turn: a lease or an
 * event does not stand behind a thousand Secrets. In virtual time no turn takes any time, so nobody waits.
 */
export class FairTurns {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Lanes with somebody in them; the first is served next. */
  readonly #lanes = new Map<string, Set<() => void>>();
  #began: number | undefined;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Resolves when the caller may go on; undefined: at once. Who waits in a lane goes on in the order of coming. */
  next(lane: string): Promise<void> | undefined {
    if (this.#began === undefined) {
      this.#began = this.#clock.monotonic();
      setImmediate(() => this.#turn());
      return undefined;
    }
    if (this.#clock.monotonic() - this.#began < TURN_MS) return undefined;
    const waiting = this.#lanes.get(lane) ?? new Set();
    this.#lanes.set(lane, waiting);
    return new Promise((resolve) => waiting.add(resolve));
  }

  #turn(): void {
    this.#began = undefined;
    if (this.#lanes.size === 0) return;
    this.#began = this.#clock.monotonic();
    setImmediate(() => this.#turn());
    for (let left = CALLS_A_TURN; left > 0 && this.#lanes.size > 0; left--) this.#serve();
  }

  /** Lets the first of the next lane go on; the lane goes behind the others. */
  #serve(): void {
    for (const [lane, waiting] of this.#lanes) {
      this.#lanes.delete(lane);
      for (const goOn of waiting) {
        waiting.delete(goOn);
        if (waiting.size > 0) this.#lanes.set(lane, waiting);
        goOn();
        return;
      }
    }
  }
}

/** The items in parts that take a few milliseconds each. Others have their turn between the parts. */
export async function* partsInTurns<T>(items: readonly T[], size: number): AsyncGenerator<readonly T[], void> {
  for (let at = 0; at < items.length; at += size) {
    if (at > 0) await nextTurn();
    yield items.slice(at, at + size);
  }
}

/** Work in passes, after each of which others may have their turn. What it looks at must not change meanwhile. */
export type Passes<T> = Generator<void, T>;

/** Steps of a walk that take a few milliseconds together on a slow machine. */
const STEPS_AT_ONCE = 4000;

/** Counts the steps of a walk over a value that may be large: each member and item is one, of a microsecond or so. */
export class Pace {
  #left = STEPS_AT_ONCE;

  /** Counts one more, or several. True where the walk has to yield, so that others may have their turn. */
  isOver(steps = 1): boolean {
    this.#left -= steps;
    if (this.#left > 0) return false;
    this.#left = STEPS_AT_ONCE;
    return true;
  }
}

/** All passes at once. */
export function allPasses<T>(passes: Passes<T>): T {
  for (;;) {
    const { done, value } = passes.next();
    if (done === true) return value;
  }
}

/** All passes; where the call is a long one, others have their turn between them. */
export async function passesInTurns<T>(call: Sized, passes: Passes<T>): Promise<T> {
  for (;;) {
    const { done, value } = passes.next();
    if (done === true) return value;
    await letOthersGo(call);
  }
}
