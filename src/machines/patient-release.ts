/** A step of giving a machine back, whatever kind of object holds it. */
import { type Fault, isFault } from "@slipway/base";
import type { Context, Outcome } from "@slipway/kube";
import type { Patience } from "./patience.ts";

/** `rests`: the step was not tried, since the provider refused the one before. */
export type Released = Outcome & { rests?: boolean };

export interface ReleaseStep {
  /** Of the object. */
  uid: string;
  /** What is asked of the provider: another step than the one that was refused is tried at once. */
  name: string;
  giveBack(): Promise<Released>;
  /** Lets the object go without its machine. Undefined: its user has not abandoned the machine. */
  letGo: ((reason: string) => Promise<Released>) | undefined;
  /** The fault, with the way out of it. */
  withWayOut(fault: Fault): Fault;
}

/**
 * Makes one step, unless the provider that refused the last one is to be left alone for a while. A provider that can't be asked holds the
 * object until the user abandons the machine; the faults of the Kubernetes API are passed on.
 */
export async function releasePatiently(
  patience: Patience,
  { clock, signal }: Pick<Context, "clock" | "signal">,
  { uid, name, giveBack, letGo, withWayOut }: ReleaseStep,
): Promise<Released> {
  const restMs = patience.restMs(uid, name, clock.monotonic());
  if (restMs > 0) return { againAfterMs: restMs, rests: true };
  try {
    const outcome = await giveBack();
    patience.forget(uid);
    return outcome;
  } catch (error) {
    signal.throwIfAborted();
    if (!isProviders(error)) throw error;
    if (letGo !== undefined) return await letGo(error.message);
    patience.refused(uid, name, error, clock.monotonic());
    throw withWayOut(error);
  }
}

/** Whether a fault is of the machine's provider or the way to it, not of the Kubernetes API, where waiting helps. */
export function isProviders(error: unknown): error is Fault {
  return isFault(error) && !isFault(error, "Conflict", "NotLeader", "Undeclared", "Bug");
}
