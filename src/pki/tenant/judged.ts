import { createHash } from "node:crypto";
import { type Due, duePki, type PkiFacts } from "./plan.ts";

/** What is near its end is seen so much later at most; certificates are renewed a day before it. */
export const KEPT_MS = 10 * 60_000;

interface Verdict {
  /** Of all that was judged but the time. */
  digest: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Remembers of whom nothing was due: verifying a tenant's signatures costs ten milliseconds, and its Secrets change about once a year. */
export class JudgedPki {
  /** By tenant: its last look at which nothing was due. */
  readonly #good = new Map<string, Verdict>();

  /** As `duePki`, without judging the same facts twice within `KEPT_MS`. */
  due(id: string, facts: PkiFacts): Due[] {
    const { now, requested, ...others } = facts;
    const digest = createHash("sha256")
      .update(JSON.stringify([others, [...requested].sort()]))
      .digest("base64");
    const good = this.#good.get(id);
    if (good?.digest === digest && now >= good.at && now - good.at < KEPT_MS) return [];
    const due = duePki(facts);
    if (due.length === 0) this.#good.set(id, { digest, at: now });
    else this.#good.delete(id);
    return due;
  }

  forget(id: string): void {
    this.#good.delete(id);
  }
}
