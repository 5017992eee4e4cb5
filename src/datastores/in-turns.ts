import { type Clock, Fault } from "@slipway/base";
import type { Datastore } from "./datastore.ts";

/** So many calls for tenants are under way at a database at once, and so many copies. */
const MOST_CALLS = 2;
const MOST_COPIES = 2;
/** So long one waits for its turn. */
const WAIT_MS = 1_000;
const AGAIN_MS = 3_000;

/**
 * The same datastore, with few calls at once: a database that hangs holds up those alone, and a call that comes then is refused within a
 * second (`Unavailable`), so that its caller serves tenants of other databases (B24). `check` and `close` take no turn.
 */
export function inTurns(datastore: Datastore, name: string, clock: Pick<Clock, "after">): Datastore {
  const calls = new Turns(MOST_CALLS, clock, name, "it has not answered other tenants yet");
  const copies = new Turns(MOST_COPIES, clock, name, "other tenants are moved from it");
  const turned: Datastore = {
    driver: datastore.driver,
    check: (signal) => datastore.check(signal),
    ensure: (place, signal) => calls.take(() => datastore.ensure(place, signal)),
    remove: (place, signal) => calls.take(() => datastore.remove(place, signal)),
    places: (signal) => calls.take(() => datastore.places(signal)),
    count: (place, signal) => calls.take(() => datastore.count(place, signal)),
    copy: (place, to, progress, signal) => copies.take(() => datastore.copy(place, behind(to), progress, signal)),
    close: () => datastore.close(),
  };
  BEHIND.set(turned, datastore);
  return turned;
}

/** What a copy goes to is opened by the driver itself. */
const BEHIND = new WeakMap<Datastore, Datastore>();

function behind(datastore: Datastore): Datastore {
  return BEHIND.get(datastore) ?? datastore;
}

class Turns {
  readonly #most: number;
  readonly #clock: Pick<Clock, "after">;
  readonly #name: string;
  readonly #because: string;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(most: number, clock: Pick<Clock, "after">, name: string, because: string) {
    this.#most = most;
    this.#clock = clock;
    this.#name = name;
    this.#because = because;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#most) this.#taken++;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      // The turn goes over to the next as it is.
      if (next === undefined) this.#taken--;
      else next();
    }
  }

  async #turn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const next = (): void => {
      this.#waiting.delete(next);
      timer.cancel();
      resolve();
    };
    const timer = this.#clock.after(WAIT_MS, () => {
      this.#waiting.delete(next);
      reject(new Fault("Unavailable", this.#name, this.#because, { retryAfterMs: AGAIN_MS }));
    });
    this.#waiting.add(next);
    await promise;
  }
}
