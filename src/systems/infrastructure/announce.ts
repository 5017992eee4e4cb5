import type { Condition, Context, KubeObject } from "@slipway/kube";

/** Conditions that say what others say already, or what nobody needs to know. */
const QUIET: ReadonlySet<string> = new Set(["Ready", "Paused"]);

interface Conditioned extends KubeObject {
  status?: { conditions?: readonly Condition[] | undefined };
}

/** Reports as events what became so between two states of an object's conditions. */
export function announce(events: Context["events"], before: Conditioned, after: Conditioned): void {
  const held = new Map((before.status?.conditions ?? []).map((condition) => [condition.type, condition]));
  for (const condition of after.status?.conditions ?? []) {
    const { type, status, reason, message } = condition;
    const was = held.get(type);
    if (QUIET.has(type) || (was?.status === status && was.reason === reason)) continue;
    const isTrouble = type === "Stalled" ? status === "True" : severityOf(condition) !== "Info" && status === "False";
    if (isTrouble) events.warning(after, reason, message);
    else if (type !== "Stalled") events.normal(after, reason, message || `${type} is ${status}`);
  }
}

function severityOf(condition: Condition): string | undefined {
  return (condition as Condition & { severity?: string }).severity;
}
