import { type Clock, Fault, type HttpAnswer } from "@slipway/base";

/** How long a call may wait for a rate limit before it is handed back as `Throttled`. */
export const PATIENCE_MS = 60_000;
const DEFAULT_WAIT_MS = 5_000;
/** A refusal that asks for no wait at all must not be answered by a storm. */
const LEAST_WAIT_MS = 1_000;

/**
 * How long the API wants to be left alone, in ms: `Retry-After` (seconds or a date, RFC 9110 §10.2.3), else `X-RateLimit-Reset`
 * (epoch seconds). Undefined: nothing of the kind was said.
 */
export function askedToWait(answer: HttpAnswer, now: number): number | undefined {
  const wait = waitOf(answer, now);
  if (answer.status !== 429) return wait;
  return Math.max(LEAST_WAIT_MS, wait ?? DEFAULT_WAIT_MS);
}

function waitOf(answer: HttpAnswer, here: number): number | undefined {
  // Points in time are the server's: its own clock is the one to compare them with.
  const there = Date.parse(answer.headers.date ?? "");
  const now = Number.isNaN(there) ? here : there;
  const after = answer.headers["retry-after"];
  if (after !== undefined) {
    const ms = /^\d+$/.test(after.trim()) ? Number(after) * 1000 : Date.parse(after) - now;
    if (Number.isFinite(ms)) return Math.max(0, ms);
  }
  const exhausted = answer.status === 429 || answer.headers["x-ratelimit-remaining"] === "0";
  const reset = Number(answer.headers["x-ratelimit-reset"]);
  if (exhausted && reset > 0) return Math.max(0, reset * 1000 - now);
  return undefined;
}

/** One account's gate: after the API asked to wait, all calls of the account wait, not only the refused one. */
export class Gate {
  readonly #clock: Clock;
  #opensAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sends once the API lets calls in, and again whenever it refused this one for its rate. Rejects with `Throttled` when that takes too long. */
  async through(send: () => Promise<HttpAnswer>, { on, signal }: GatedCall): Promise<HttpAnswer> {
    const giveUpAt = this.#clock.monotonic() + PATIENCE_MS;
    for (;;) {
      for (let wait = this.#closedForMs; wait > 0; wait = this.#closedForMs) {
        if (this.#clock.monotonic() + wait > giveUpAt)
          throw new Fault("Throttled", on, "the API's rate limit is used up", { retryAfterMs: wait });
        await this.#clock.sleep(wait, signal);
      }
      const answer = await send();
      const wait = askedToWait(answer, this.#clock.now());
      if (wait !== undefined) this.#opensAt = Math.max(this.#opensAt, this.#clock.monotonic() + wait);
      // A throttled request was not carried out, so a write is repeated as safely as a read.
      if (answer.status !== 429) return answer;
    }
  }

  get #closedForMs(): number {
    return Math.max(0, this.#opensAt - this.#clock.monotonic());
  }
}

export interface GatedCall {
  /** What the call is about, for the fault. */
  on: string;
  signal?: AbortSignal | undefined;
}
