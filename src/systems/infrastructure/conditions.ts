/** Conditions of both contracts of Cluster API: a severity where the status is False, and a generation. */
import { type Condition, setCondition } from "@slipway/kube";

export type Severity = "Error" | "Warning" | "Info";

export interface Told {
  type: string;
  status: boolean | "Unknown";
  reason: string;
  message: string;
  /** Of a condition that is False. Default: Info. */
  severity?: Severity;
}

export interface Place {
  now: number;
  observedGeneration: number;
}

/** The list with one condition set. The same list where nothing changes. Pure. */
export function told(
  list: readonly Condition[] | undefined,
  update: Told,
  { now, observedGeneration }: Place,
): Condition[] {
  const { type, reason, message, severity = "Info" } = update;
  const status = update.status === "Unknown" ? "Unknown" : update.status ? "True" : "False";
  const after = setCondition(list, { type, status, reason, message, observedGeneration }, now);
  const wanted = status === "False" ? severity : undefined;
  return after.map((condition) =>
    condition.type === type && severityOf(condition) !== wanted ? withSeverity(condition, wanted) : condition,
  );
}

function severityOf(condition: Condition): string | undefined {
  return (condition as Condition & { severity?: string }).severity;
}

function withSeverity(condition: Condition, severity: Severity | undefined): Condition {
  const { severity: _, ...rest } = condition as Condition & { severity?: string };
  return severity === undefined ? rest : ({ ...rest, severity } as Condition);
}
