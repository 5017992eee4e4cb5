/** `metav1.LabelSelector`: which objects it selects, and how it is written for a request. Pure. */
export interface LabelSelector {
  matchLabels?: Readonly<Record<string, string>> | undefined;
  matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] | undefined }[] | undefined;
}

/** Whether a selector selects objects with these labels. An empty one selects all; an operator that is not known, none. */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
    matchExpressions.every((expression) => holds(expression, labels))
  );
}

/** A label that every JavaScript object seems to have, such as `constructor`, counts only where it was given. */
const labelOf = (labels: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

function holds(
  { key, operator, values = [] }: NonNullable<LabelSelector["matchExpressions"]>[number],
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labelOf(labels, key);
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}

/** The selector as `kubectl get --selector` takes it. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const others = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator === "In" ? "in" : "notin"} (${values.toSorted().join(",")})`;
  });
  return [...equal.toSorted(), ...others.toSorted()].join(",");
}
