import type { Fault } from "@slipway/base";

const BASE_MS = 5_000;
const MAX_MS = 2 * 60_000;

/**
 * How long a provider that refused a step is left alone, whatever wakes the Instance meanwhile: its own status, its Node's heartbeats, a
 * change of its pool. In memory: a new process asks once.
 */
export class Patience {
  readonly #refused = new Map<string, { step: string; failures: number; until: number }>();

  /** Notes a refusal. A step that differs (another placement, a corrected specification) starts anew. */
  refused(uid: string, step: string, fault: Fault, now: number): void {
    const held = this.#refused.get(uid);
    const failures = held?.step === step ? held.failures : 0;
    const wait = Math.max(fault.retryAfterMs ?? 0, Math.min(MAX_MS, BASE_MS * 2 ** failures));
    this.#refused.set(uid, { step, failures: failures + 1, until: now + wait });
  }

  /** In how many ms the step may be tried again; 0: now. */
  restMs(uid: string, step: string, now: number): number {
    const held = this.#refused.get(uid);
    return held?.step === step ? Math.max(0, held.until - now) : 0;
  }

  /** The step went through, or the Instance is gone. */
  forget(uid: string): void {
    this.#refused.delete(uid);
  }
}
