import type { Clock, Mac } from "@slipway/base";
import type { Host } from "./host.ts";

/** Cards that hosts merely name, of which it is remembered who named them last. */
const MOST_CLAIMS = 10_000;

/** The same refusal is reported again after this. */
const REFUSAL_MS = 60_000;
const MOST_REFUSALS = 1_000;

/** What was refused in the name of a host, and which cards two of them claim; neither is believed beyond what it has shown. */
export class Disputes {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #report: (host: Host, because: string) => void;
  /** By card, the host that named it last without having shown it. */
  readonly #claims = new Map<Mac, string>();
  /** When each refusal was reported. */
  readonly #reportedAt = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonic">, report: (host: Host, because: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  /** Reports what was refused, the same at most once a minute. */
  refuse(host: Host, because: string): void {
    const now = this.#clock.monotonic();
    const key = `${host.name} ${because}`;
    const before = this.#reportedAt.get(key);
    if (before !== undefined && now - before < REFUSAL_MS) return;
    if (this.#reportedAt.size >= MOST_REFUSALS) this.#reportedAt.clear();
    this.#reportedAt.set(key, now);
    this.#report(host, because);
  }

  /** Reports, for both hosts, that two claim the same card. */
  over(card: Mac, one: Host, other: Host): void {
    this.refuse(one, `${other.name} says that the card ${card} is its own, too`);
    this.refuse(other, `${one.name} says that the card ${card} is its own, too`);
  }

  /** Reports the cards that a host has or names and another has or named. `find`: hosts of which more is known than that they were seen. */
  compare(host: Host, named: readonly Mac[], find: (nameOrMac: string) => Host | undefined): void {
    for (const card of [...host.macs, ...named]) {
      const claimant = this.#claims.get(card);
      const others = [find(card), claimant === undefined ? undefined : find(claimant)];
      const names = new Set([host.name]);
      for (const other of others) {
        if (other === undefined || names.has(other.name)) continue;
        names.add(other.name);
        this.over(card, host, other);
      }
    }
    for (const card of named) {
      this.#claims.delete(card);
      this.#claims.set(card, host.name);
      if (this.#claims.size > MOST_CLAIMS) this.#claims.delete(this.#claims.keys().next().value!);
    }
  }
}
