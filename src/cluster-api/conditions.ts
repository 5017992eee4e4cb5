/**
 * How conditions of several sources become one, by Cluster API's rules: an issue is a condition of positive polarity that is False, or one of
 * negative polarity that is True. Any issue makes the result bad, else anything unknown makes it Unknown. Pure.
 */
import type { Condition, ConditionUpdate } from "@slipway/kube";
import { conditionOf } from "@slipway/kube";

/** Condition types that are good when they are False. */
export const NEGATIVE: ReadonlySet<string> = new Set([
  "Deleting",
  "Updating",
  "RollingOut",
  "ScalingUp",
  "ScalingDown",
  "Remediating",
  "Paused",
]);

/** Reasons of the result: with an issue, with something unknown, with neither. */
export interface Reasons {
  issue: string;
  unknown: string;
  good: string;
}

type Standing = "issue" | "unknown" | "info";
/** A condition that takes part, and by which name the message lists it. */
interface Part {
  condition: Pick<Condition, "type" | "status" | "reason" | "message">;
  isNegative: boolean;
  name: string;
}

/** What a condition counts for. */
function standingOf({ condition, isNegative }: Part): Standing {
  if (condition.status === "Unknown") return "unknown";
  return (condition.status === "True") === isNegative ? "issue" : "info";
}

function resultOf(parts: readonly Part[], isNegative: boolean, reasons: Reasons): Pick<Condition, "status" | "reason"> {
  const standings = parts.map(standingOf);
  if (standings.includes("issue")) return { status: isNegative ? "True" : "False", reason: reasons.issue };
  if (standings.includes("unknown")) return { status: "Unknown", reason: reasons.unknown };
  return { status: isNegative ? "False" : "True", reason: reasons.good };
}

export interface SummaryRules {
  /** The condition that is made. */
  type: string;
  /** The conditions that it is made of, in the order in which its message lists them. */
  of: readonly string[];
  reasons: Reasons;
  /** Those of `of` that count for nothing while they are not there. */
  optional?: readonly string[];
  /** Types of negative polarity besides Cluster API's own. */
  negative?: readonly string[];
}

/** One condition made of several of the same object. A source that is missing is unknown: it was not reported yet. */
export function summary(conditions: readonly Condition[] | undefined, rules: SummaryRules): ConditionUpdate {
  const parts = rules.of.flatMap((type): Part[] => {
    const isNegative = NEGATIVE.has(type) || rules.negative?.includes(type) === true;
    const condition = conditionOf(conditions, type);
    if (condition !== undefined) return [{ condition, isNegative, name: type }];
    if (rules.optional?.includes(type) === true) return [];
    const missing = {
      type,
      status: "Unknown" as const,
      reason: "NotYetReported",
      message: "Condition not yet reported",
    };
    return [{ condition: missing, isNegative, name: type }];
  });
  return {
    type: rules.type,
    ...resultOf(parts, NEGATIVE.has(rules.type), rules.reasons),
    message: summaryMessage(parts),
  };
}

function summaryMessage(parts: readonly Part[]): string {
  const bad = parts.filter((part) => standingOf(part) !== "info");
  const told = bad.length > 0 ? bad : parts.filter(({ condition }) => condition.message !== "");
  return told.map(({ name, condition }) => bullet(name, condition.message || condition.reason)).join("\n");
}

/** `* Name: text`; lists inside the text are indented below the name. */
const bullet = (name: string, text: string): string =>
  text.startsWith("* ") ? `* ${name}:\n${indented(text)}` : `* ${name}: ${text}`;
const indented = (text: string): string => text.replaceAll(/^/gm, "  ");

/** An object whose condition takes part in an aggregate. `first`: its message comes before others'. */
export interface Aggregated {
  name: string;
  conditions: readonly Condition[] | undefined;
  first?: boolean;
}

export interface AggregateRules {
  /** The condition that is made. */
  type: string;
  /** The condition of each object. Default: `type`. */
  of?: string;
  /** Kind of the objects, as the message calls one of them. */
  kind: string;
  reasons: Reasons;
}

const MESSAGES = 3;
const NAMES = 3;

/** One condition made of the same condition of several objects. There is at least one object. */
export function aggregate(objects: readonly Aggregated[], rules: AggregateRules): ConditionUpdate {
  const source = rules.of ?? rules.type;
  const isNegative = NEGATIVE.has(source);
  const parts = objects.map(({ name, conditions, first = false }) => {
    const missing = {
      type: source,
      status: "Unknown" as const,
      reason: "NotYetReported",
      message: `Condition ${source} not yet reported`,
    };
    return { condition: conditionOf(conditions, source) ?? missing, isNegative, name, first };
  });
  return {
    type: rules.type,
    ...resultOf(parts, NEGATIVE.has(rules.type), rules.reasons),
    message: aggregateMessage(parts, rules.kind),
  };
}

type Named = Part & { first: boolean };

function aggregateMessage(parts: readonly Named[], kind: string): string {
  const bad = parts.filter((part) => standingOf(part) !== "info");
  const told = bad.length > 0 ? bad : parts.filter(({ condition }) => condition.message !== "");
  const groups = [...Map.groupBy(told, (part) => `${standingOf(part)} ${textOf(part)}`).values()].toSorted(
    (a, b) => rankOf(a) - rankOf(b) || b.length - a.length || (a[0]!.name < b[0]!.name ? -1 : 1),
  );
  const lines = groups
    .slice(0, MESSAGES)
    .map((group) => bullet(`${plural(kind, group.length)} ${namesOf(group)}`, textOf(group[0]!)));
  const rest = groups.slice(MESSAGES).flat().length;
  if (rest > 0) lines.push(`And ${rest} ${plural(kind, rest)} with other issues`);
  return lines.join("\n");
}

const textOf = ({ condition }: Part): string => condition.message || condition.reason;
const plural = (kind: string, count: number): string => (count === 1 ? kind : `${kind}s`);
const rankOf = (group: readonly Named[]): number =>
  (standingOf(group[0]!) === "issue" ? 0 : 2) + (group.some(({ first }) => first) ? 0 : 1);

function namesOf(group: readonly Part[]): string {
  const names = group.map(({ name }) => name).toSorted();
  const shown = names.slice(0, NAMES).join(", ");
  return names.length > NAMES ? `${shown}, ... (${names.length - NAMES} more)` : shown;
}
