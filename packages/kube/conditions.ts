import { rfc3339 } from "@slipway/base";
import type { Condition } from "./object.ts";

/** The fields of a condition; the time of its last change is kept by `setCondition`. */
export type ConditionUpdate = Omit<Condition, "lastTransitionTime">;

/**
 * The list with one condition set (metav1.Condition): `lastTransitionTime` moves only when the status does. Returns the very
 * same list, to be left as it is, when nothing changes. Pure.
 */
export function setCondition(
  list: readonly Condition[] | undefined,
  update: ConditionUpdate,
  nowMs: number,
): Condition[] {
  const before = conditionOf(list, update.type);
  if (before === undefined) return [...(list ?? []), { ...update, lastTransitionTime: rfc3339(nowMs) }];
  const lastTransitionTime = before.status === update.status ? before.lastTransitionTime : rfc3339(nowMs);
  const after: Condition = { ...before, ...update, lastTransitionTime };
  return same(before, after) ? (list as Condition[]) : list!.map((c) => (c === before ? after : c));
}

/** The condition of a type; undefined where the list has none. */
export function conditionOf<C extends { type: string }>(list: readonly C[] | undefined, type: string): C | undefined {
  return list?.find((condition) => condition.type === type);
}

/** Whether the condition is there and its status is True. */
export function isTrue(list: readonly { type: string; status: string }[] | undefined, type: string): boolean {
  return conditionOf(list, type)?.status === "True";
}

/** The condition of Cluster API's v1beta1 contract: no observedGeneration, and a severity where the status is False. */
export interface V1Beta1Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  severity?: "Error" | "Warning" | "Info";
  reason?: string;
  message?: string;
  lastTransitionTime: string;
}

/** A condition in the v1beta1 shape. Reason and message are left out of a True one, as that contract has it. */
export function v1beta1(condition: Condition, severity: "Error" | "Warning" | "Info" = "Info"): V1Beta1Condition {
  const { type, status, reason, message, lastTransitionTime } = condition;
  if (status === "True") return { type, status, lastTransitionTime };
  return { type, status, ...(status === "False" ? { severity } : {}), reason, message, lastTransitionTime };
}

function same(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration &&
    a.lastTransitionTime === b.lastTransitionTime
  );
}
