import { Fault } from "@slipway/base";

/** 250 to a page: 50,000 machines in one account. */
const MOST_PAGES = 200;
const MOST_ITEMS = 50_000;
/** Pages shift while a list is read, so one may show nothing new; several in a row are the same page over and over. */
const MOST_IDLE = 3;

/**
 * Ends a list that a provider never ends: more pages or items than any account has, or pages that repeat what was read. The list fails
 * then: what was read of it would look as if the other machines were gone.
 */
export class PageBound {
  readonly #on: string;
  #pages = 0;
  #idle = 0;

  constructor(on: string) {
    this.#on = on;
  }

  /** Notes a page with `fresh` items that were not on earlier ones, which had `before` in all. Throws `Unavailable` beyond a bound. */
  read(fresh: number, before: number): void {
    this.#pages++;
    this.#idle = fresh > 0 ? 0 : this.#idle + 1;
    if (this.#idle >= MOST_IDLE) this.#refuse(`its last ${MOST_IDLE} pages repeated what was read before`);
    if (this.#pages > MOST_PAGES) this.#refuse(`it has more than ${MOST_PAGES} pages`);
    if (before + fresh > MOST_ITEMS) this.#refuse(`it has more than ${MOST_ITEMS} entries`);
  }

  #refuse(why: string): never {
    throw new Fault("Unavailable", this.#on, `the API's list does not end: ${why}`, {
      remedy: "report it to the provider, or correct the endpoint; machines are left as they are meanwhile",
      retryAfterMs: 60_000,
    });
  }
}
