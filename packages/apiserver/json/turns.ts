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
export function letOthersGo(call: Sized): Promise<void> | undefined {
  return isLongCall(call) ? nextTurn() : undefined;
}

/** Whether others would notice what the call does at once. */
export function isLongCall({ text = "", isLong = false }: Sized): boolean {
  return isLong || text.length > LONG_BODY;
}

/** From here on, the call lets others go if the object that it is about is large. */
export function noteSize(call: Sized, object: unknown): void {
  if (call.isLong !== true && hasMoreThan(MANY_VALUES, object)) call.isLong = true;
}

/** Resolves when everybody else who waits for a turn has had one. */
export function nextTurn(): Promise<void> {
  return new Promise(setImmediate);
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

/** All passes. In a long call others have their turn between them; in a short one all are made before this returns, and a failure is thrown at once. */
export function passesInTurns<T>(call: Sized, passes: Passes<T>): T | Promise<T> {
  return isLongCall(call) ? passesOneByOne(call, passes) : allPasses(passes);
}

async function passesOneByOne<T>(call: Sized, passes: Passes<T>): Promise<T> {
  for (;;) {
    const { done, value } = passes.next();
    if (done === true) return value;
    await letOthersGo(call);
  }
}
