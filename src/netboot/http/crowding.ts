/** Who gives way when there are too many connections. Pure. */

/** A connection as far as its right to stay is concerned. */
export interface Crowding {
  /** When it began: monotonic milliseconds. */
  since: number;
  /** Bytes that moved either way. */
  moved: number;
}

/** So long no client is judged: a client needs some time for its first word. */
const GRACE_MS = 2_000;

/** The slowest of those that have had time to show how fast they are; undefined: all have just come. */
export function slowest<T extends Crowding>(all: Iterable<T>, now: number): T | undefined {
  let found: { one: T; speed: number } | undefined;
  for (const one of all) {
    const age = now - one.since;
    if (age < GRACE_MS) continue;
    const speed = one.moved / age;
    if (found === undefined || speed < found.speed) found = { one, speed };
  }
  return found?.one;
}
