import { type Clock, deadline, Fault, formatDuration, isFault } from "@slipway/base";
import type { BmcCall } from "./bmc.ts";

const FIRST_LOOK_MS = 1_000;
const LONGEST_BETWEEN_MS = 10_000;

export interface Effect {
  /** What happens to whom, for the fault: `power on`. */
  what: string;
  on: string;
  /** Looks once. May reject: what passes by itself is looked at again. */
  seen(signal: AbortSignal): Promise<boolean>;
}

/** What runs out of its time, and the signal that says so. */
export interface Span {
  clock: Clock;
  signal: AbortSignal;
}

export interface Limits {
  clock: Clock;
  call: BmcCall;
  defaultMs: number;
  on: string;
}

/** Runs a call within its time. Rejects with `Unavailable` when that is over, with the caller's reason when the caller gives up. */
export async function within<T>({ clock, call, defaultMs, on }: Limits, run: (span: Span) => Promise<T>): Promise<T> {
  const ms = call.withinMs ?? defaultMs;
  const limit = deadline(clock, ms, call.signal);
  try {
    return await run({ clock, signal: limit.signal });
  } catch (error) {
    if (!isTimeout(error)) throw error;
    throw new Fault("Unavailable", on, `the BMC did not answer in ${formatDuration(ms)}`, { cause: error });
  } finally {
    limit.done();
  }
}

/** What a BMC does in the background, after it took an order. */
export interface Work {
  /** Rejects with `Unavailable` when it has failed; anything else says nothing about the effect. */
  failed(signal: AbortSignal): Promise<void>;
}

const TRIES = 3;
const BEFORE_AGAIN_MS = 3_000;

/**
 * Gives an order and waits until its effect is seen. An order whose answer was lost may have been carried out or not: the effect shows it,
 * and where there is none the order is given again. So it must do no harm when it is given twice.
 */
export async function carryOut(span: Span, effect: Effect, order: () => Promise<Work | undefined>): Promise<void> {
  let work: Work | undefined;
  for (let tries = 1; tries <= TRIES; tries++) {
    try {
      work = await order();
      break;
    } catch (error) {
      // A BMC that carries out the first order may refuse the second one.
      const isMoot =
        tries > 1 && isFault(error) && !isFault(error, "LostAnswer", "BadCredentials", "UntrustedCertificate");
      if (isMoot) break;
      if (!isFault(error, "LostAnswer") || span.signal.aborted) throw error;
      await span.clock.sleep(BEFORE_AGAIN_MS, span.signal);
      if ((await look(effect, span.signal)) === true) return;
    }
  }
  await untilSeen(span, effect, work);
}

/** Looks until the effect is seen, ever less often. Rejects with `NoEffect` when the span ends first, or with what kept it from looking. */
export async function untilSeen({ clock, signal }: Span, effect: Effect, work?: Work): Promise<void> {
  let trouble: Fault | undefined;
  try {
    for (let wait = FIRST_LOOK_MS; ; wait = Math.min(LONGEST_BETWEEN_MS, wait * 1.5)) {
      const seen = await look(effect, signal);
      if (seen === true) return;
      trouble = seen === false ? undefined : seen;
      if (trouble === undefined) await work?.failed(signal);
      await clock.sleep(wait, signal);
    }
  } catch (error) {
    throw signal.aborted ? ended(signal, trouble, effect) : error;
  }
}

/** A fault: it can't be seen now. */
async function look(effect: Effect, signal: AbortSignal): Promise<boolean | Fault> {
  try {
    return await effect.seen(signal);
  } catch (error) {
    if (!signal.aborted && isFault(error, "Unavailable", "LostAnswer", "Throttled")) return error;
    throw error;
  }
}

/** Why a span that is over has no effect to show. A caller that gave up gets its own reason. */
function ended({ reason }: AbortSignal, trouble: Fault | undefined, effect: Effect): unknown {
  if (!isTimeout(reason)) return reason;
  return trouble ?? notSeen(effect);
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === "TimeoutError";
}

function notSeen({ on, what }: Effect): Fault {
  return new Fault("NoEffect", on, `the BMC took the order (${what}), but nothing changed`, {
    remedy: "look at the BMC's own log; it is tried again",
  });
}
