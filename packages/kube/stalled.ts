import { type Fault, isoTime } from "@slipway/base";
import { conditionOf, isTrue, setCondition } from "./conditions.ts";
import type { Condition } from "./object.ts";

/** What a status reports of a wait: what for, since when, until when (RFC 3339). Unset: nothing is waited for. */
export interface Waiting {
  waitingFor: string | undefined;
  waitingSince: string | undefined;
  deadline: string | undefined;
}

interface Held {
  conditions?: readonly Condition[] | undefined;
  waitingFor?: string | undefined;
  waitingSince?: string | undefined;
  deadline?: string | undefined;
}

/** When a status is decided (ms since 1970), and for which generation of the object. */
export interface Decided {
  now: number;
  observedGeneration: number;
}

const STALLED = "Stalled";

/** Whether something prevents the next step, as the status has it. */
export function isStalled(held: Held | undefined): boolean {
  return isTrue(held?.conditions, STALLED);
}

/** The message of what prevents the next step; undefined where nothing does. */
export function stalledBy(held: Held | undefined): string | undefined {
  return isStalled(held) ? conditionOf(held?.conditions, STALLED)?.message : undefined;
}

/** The wait for `what`. Its beginning moves only when `what` does. `deadline`: ms since 1970. */
export function waitFor(
  held: Held | undefined,
  { what, deadline, now }: { what: string | undefined; deadline?: number | undefined; now: number },
): Waiting {
  if (what === undefined) return { waitingFor: undefined, waitingSince: undefined, deadline: undefined };
  return {
    waitingFor: what,
    waitingSince: held?.waitingFor === what ? held.waitingSince : isoTime(now),
    deadline: deadline === undefined ? undefined : isoTime(deadline),
  };
}

/**
 * The fields of a status whose next step is prevented: the condition `Stalled`, separate so that it never overwrites what is reported of
 * the thing itself, and the fault's text as what is waited for.
 */
export function stalled(
  held: Held | undefined,
  fault: Fault,
  { now, observedGeneration }: Decided,
): Waiting & { conditions: Condition[] } {
  const { code: reason, advice: message } = fault;
  const condition = { type: STALLED, status: "True" as const, reason, message, observedGeneration };
  return {
    conditions: [...setCondition(held?.conditions, condition, now)],
    ...waitFor(held, { what: message, now }),
  };
}

/** The fields of a status whose obstacle is out of the way. */
export function recovered(
  held: Held | undefined,
  { now, observedGeneration }: Decided,
): Pick<Waiting, "waitingFor" | "waitingSince"> & { conditions: Condition[] } {
  const condition = {
    type: STALLED,
    status: "False" as const,
    reason: "Recovered",
    message: "",
    observedGeneration,
  };
  return {
    conditions: [...setCondition(held?.conditions, condition, now)],
    waitingFor: undefined,
    waitingSince: undefined,
  };
}
