import type { Condition, Context } from "@slipway/kube";
import type { Instance } from "../../kinds/harvester/instance.ts";

/** Reports as events what became true of an Instance between two states of its status: that it joined, what troubles it, why it was given up. */
export function announce(events: Context["events"], before: Instance, after: Instance): void {
  const held = new Map((before.status?.conditions ?? []).map((condition) => [condition.type, condition]));
  for (const condition of after.status?.conditions ?? []) {
    const { type, status, reason, message } = condition;
    if (held.get(type)?.status === status && held.get(type)?.reason === reason) continue;
    if (isTrouble(condition)) events.warning(after, reason, message);
    else if (status === "True" && !STEPS.has(type)) events.normal(after, reason, message);
  }
  const failure = after.status?.failure;
  if (failure !== undefined && before.status?.failure === undefined)
    events.warning(after, failure.reason, failure.message);
}

/** Conditions on the way to `Ready`: they stay on the object, with the time when they became true. */
const STEPS: ReadonlySet<string> = new Set(["MachineReady", "Installed"]);

const TROUBLE = new Set([
  "NameTaken",
  "NodeNotReady",
  "NodeMissing",
  "NoCapacity",
  "Protected",
  "QuorumAtRisk",
  "Locked",
  "DrainStuck",
  "MissingInput",
  "BadCredentials",
  "Invalid",
]);

function isTrouble(condition: Condition): boolean {
  return TROUBLE.has(condition.reason);
}
