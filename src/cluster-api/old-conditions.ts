/**
 * Conditions as the v1beta1 contract has them: with a severity where they are False, without a generation. They stand in
 * `status.deprecated.v1beta1.conditions` of v1beta2 objects, for readers of v1beta1. Pure.
 */
import { rfc3339 } from "@slipway/base";
import type { OldCondition } from "../kinds/cluster-api/fields.ts";

export type Severity = "Error" | "Warning" | "Info";
export type OldUpdate =
  | { type: string; status: "True" }
  | { type: string; status: "False"; severity: Severity; reason: string; message?: string }
  | { type: string; status: "Unknown"; reason: string; message?: string };

/** The list with one condition set: its time moves when anything of it does. Ready comes first, the others by their names. */
export function setOldCondition(
  list: readonly OldCondition[] | undefined,
  update: OldUpdate,
  nowMs: number,
): OldCondition[] {
  const others = (list ?? []).filter(({ type }) => type !== update.type);
  const before = list?.find(({ type }) => type === update.type);
  const { lastTransitionTime, ...held } = before ?? { lastTransitionTime: undefined };
  const isSame = before !== undefined && JSON.stringify(sorted(held)) === JSON.stringify(sorted(update));
  const after = { ...update, lastTransitionTime: isSame ? before.lastTransitionTime : rfc3339(nowMs) } as OldCondition;
  return [...others, after].toSorted((a, b) => rank(a) - rank(b) || (a.type < b.type ? -1 : 1));
}

const rank = ({ type }: OldCondition): number => (type === "Ready" ? 0 : 1);
const sorted = (value: object): [string, unknown][] =>
  Object.entries(value)
    .filter(([, of]) => of !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

const SEVERITIES = ["Error", "Warning", "Info"];

/** Ready, made of other conditions in the order of their importance: the first of the gravest that are False, else one that is Unknown, else True. */
export function oldReady(list: readonly OldCondition[] | undefined, of: readonly string[]): OldUpdate {
  const parts = of.flatMap((type) => list?.find((condition) => condition.type === type) ?? []);
  const bad = parts
    .filter(({ status }) => status === "False")
    .toSorted((a, b) => SEVERITIES.indexOf(a.severity ?? "") - SEVERITIES.indexOf(b.severity ?? ""))[0];
  const said = ({ reason = "", message }: OldCondition) => ({ reason, ...(message !== undefined && { message }) });
  if (bad) return { type: "Ready", status: "False", severity: (bad.severity as Severity) ?? "Info", ...said(bad) };
  const unknown = parts.find(({ status }) => status === "Unknown");
  if (unknown) return { type: "Ready", status: "Unknown", ...said(unknown) };
  return { type: "Ready", status: "True" };
}
