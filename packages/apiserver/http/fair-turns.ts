import type { Clock } from "@slipway/base";

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
