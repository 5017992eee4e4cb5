import { type Clock, Fault, type Mac } from "@slipway/base";
import { type HostRecord, isMerelySeen } from "./host.ts";
import { Rates } from "./rates.ts";
import { LINK } from "./records.ts";

/** New machines that are noted, of one source and in all. Beyond, they boot all the same, and are noted when they are seen again. */
const NEW_PER_SOURCE = { perSecond: 100, burst: 2_000, keys: 1_024 };
const NEW_IN_ALL = { perSecond: 200, burst: 4_000, keys: 1 };

/** Registrations of one card, and of one source by machines that have not registered before and are not kept. */
const REGISTRATIONS_PER_CARD = { perSecond: 0.2, burst: 10, keys: 16_384 };
const FIRST_REGISTRATIONS_PER_SOURCE = { perSecond: 20, burst: 1_000, keys: 1_024 };

/** How many machines may be new, and may register, in some time. */
export class Paces {
  readonly #source: Rates;
  readonly #all: Rates;
  readonly #card: Rates;
  readonly #first: Rates;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#source = new Rates(clock, NEW_PER_SOURCE);
    this.#all = new Rates(clock, NEW_IN_ALL);
    this.#card = new Rates(clock, REGISTRATIONS_PER_CARD);
    this.#first = new Rates(clock, FIRST_REGISTRATIONS_PER_SOURCE);
  }

  /** Whether one more machine of this source may be noted now; if so, it counts. */
  mayBeNew(source: string): boolean {
    return this.#source.take(source) && this.#all.take("");
  }

  /** Counts a registration. A machine that has registered before is not limited by others of its source. Throws a `Fault` (`Throttled`). */
  checkRegistration(card: Mac, known: HostRecord | undefined): void {
    const isFirst = known === undefined || isMerelySeen(known);
    if (this.#card.take(card) && (!isFirst || this.#first.take(known?.source ?? LINK))) return;
    throw new Fault("Throttled", card, "it, or its neighbours, register too often");
  }
}
