/** The conditions of a KamajiControlPlane: the original's, with reasons that mean what they say, and Ready. Pure. */
import type { Fault } from "@slipway/base";
import { type Condition, type ConditionUpdate, setCondition } from "@slipway/kube";

/** How far one step is: done, not looked at yet, or why not. */
export type StepState = { is: "done" } | { is: "waits"; for: string } | { is: "failed"; fault: Fault };
export const DONE_STEP: StepState = { is: "done" };

/** The steps, in their order, by the conditions under which users of the original know them. */
export const STEPS = [
  "FoundExternalReferenceClient",
  "TenantControlPlaneCreated",
  "TenantControlPlaneAddressReady",
  "ControlPlaneEndpointPatched",
  "InfrastructureClusterPatched",
  "KubeadmResourcesCreated",
] as const;
export type StepName = (typeof STEPS)[number];

/** Steps that not every control plane has. */
const OPTIONAL: ReadonlySet<StepName> = new Set(["FoundExternalReferenceClient", "InfrastructureClusterPatched"]);

export interface Judged {
  /** Steps that were not come to are missing; they wait for the one before. */
  steps: Partial<Record<StepName, StepState>>;
  initialized: boolean;
  isUsable: boolean;
  /** What is waited for. */
  what: string | undefined;
  hasFailed: boolean;
}

/** The conditions after a pass; those that are no longer reported go. */
export function conditionsOf(
  held: readonly Condition[] | undefined,
  { steps, initialized, isUsable, what, hasFailed }: Judged,
  { observedGeneration, now }: { observedGeneration: number; now: number },
): Condition[] {
  const waiting = what ?? "the steps before";
  const reason = hasFailed ? "Failed" : "Waiting";
  const judged = (type: string, holds: boolean, reasons = { good: "Succeeded", bad: reason }): ConditionUpdate =>
    holds ? good(type, reasons.good) : bad(type, reasons.bad, waiting);
  const before = STEPS.slice(0, -1).flatMap((type) => ofStep(type, steps[type], waiting));
  const all = [
    ...before,
    judged("KamajiControlPlaneIsInitialized", initialized),
    ...ofStep("KubeadmResourcesCreated", steps.KubeadmResourcesCreated, waiting),
    judged("KamajiControlPlaneIsReady", isUsable),
    judged("Available", isUsable, { good: "Available", bad: "NotAvailable" }),
    judged("Ready", isUsable && what === undefined, { good: "Ready", bad: reason }),
  ];
  const kept = held?.filter(({ type }) => all.some((one) => one.type === type)) ?? [];
  const list = kept.length === held?.length ? held : kept;
  return all.reduce((so, one) => setCondition(so, { ...one, observedGeneration }, now), list as Condition[]);
}

const good = (type: string, reason = "Succeeded"): ConditionUpdate => ({ type, status: "True", reason, message: "" });
const bad = (type: string, reason: string, message: string): ConditionUpdate => ({
  type,
  status: "False",
  reason,
  message,
});

function ofStep(type: StepName, state: StepState | undefined, waiting: string): ConditionUpdate[] {
  if (state === undefined) return OPTIONAL.has(type) ? [] : [bad(type, "Waiting", waiting)];
  switch (state.is) {
    case "done":
      return [good(type)];
    case "waits":
      return [bad(type, "Waiting", state.for)];
    case "failed":
      return [bad(type, "Failed", state.fault.advice)];
  }
}
