/** The next step for a claim that is wanted, and what its object says it waits for. Pure. */
import { isStalled, type Waiting, waitFor } from "@slipway/kube";
import { type Claim, isAtRest, type Journal, nextPurchase, nextStep, type Step } from "./lifecycle.ts";
import type { Machine } from "./machine.ts";

/** What must be there before a machine is ordered, and is not. */
export interface Gate {
  reason: string;
  /** What is waited for. */
  what: string;
}

export interface WantedClaim {
  claim: Claim;
  journal: Journal;
  /** `gone`: it was asked for by id and the provider does not know it. Undefined: none was bought yet. */
  sight: Machine | "gone" | undefined;
  /** Set: nothing may be ordered yet. */
  gate: Gate | undefined;
  now: number;
}

const GATE_MS = 60_000;

/** The step. `failure`: why its machine will not come, once that is written down. */
export function wantedStep({ claim, journal, sight, gate, now }: WantedClaim, failure: string | undefined): Step {
  if (failure) return { do: "wait", for: "its Machine to be replaced", recheckMs: 2 * claim.pollMs };
  if (sight === "gone")
    return { do: "giveUp", reason: "MachineGone", message: "the provider does not know the machine any more" };
  if (sight !== undefined) return nextStep({ claim, journal, machine: sight, settled: true, now });
  const next = nextPurchase(claim, journal, now);
  // An order without an answer is looked for whatever became of the gate.
  if (gate === undefined || (journal.purchase?.state === "Pending" && next.do !== "order")) return next;
  return { do: "wait", for: gate.what, recheckMs: GATE_MS };
}

type Held = Partial<Waiting> & Parameters<typeof isStalled>[0];

/** What is waited for, or what prevents the step. A machine in service waits for nothing that is its provider's. */
export function waitOf(held: NonNullable<Held>, step: Step, { joined }: Pick<Journal, "joined">, now: number): Waiting {
  if (step.do !== "giveUp" && isStalled(held) && held.waitingFor !== undefined)
    return { waitingFor: held.waitingFor, waitingSince: held.waitingSince, deadline: held.deadline };
  if (step.do !== "wait" || isAtRest(step) || joined) return waitFor(held, { what: undefined, now });
  const deadline = step.deadline !== undefined && Number.isFinite(step.deadline) ? step.deadline : undefined;
  return waitFor(held, { what: step.for, deadline, now });
}
