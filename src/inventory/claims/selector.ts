import { Fault } from "@slipway/base";

/** A label selector as objects carry it (metav1.LabelSelector, and HostClaim's `hostSelector`): all parts must hold. */
export interface LabelSelector {
  matchLabels?: Readonly<Record<string, string>> | undefined;
  matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] | undefined }[] | undefined;
}

type Labels = Readonly<Record<string, string>>;

/** By the operator in lower case: HostClaim has them so, Kubernetes begins them with a capital. */
const OPERATORS: Readonly<Record<string, (value: string | undefined, values: readonly string[]) => boolean>> = {
  in: (value, values) => value !== undefined && values.includes(value),
  // Without the label it holds, as in Kubernetes.
  notin: (value, values) => value === undefined || !values.includes(value),
  exists: (value) => value !== undefined,
  doesnotexist: (value) => value === undefined,
  "=": (value, [wanted]) => value === wanted,
  "==": (value, [wanted]) => value === wanted,
  "!=": (value, [unwanted]) => value !== unwanted,
  gt: (value, [than]) => compared(value, than, (a, b) => a > b),
  lt: (value, [than]) => compared(value, than, (a, b) => a < b),
};

/** Whether labels match; an empty selector matches all. Throws a `Fault` (`Invalid`) for an operator that there is not, or without its values. */
export function matchesLabels({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  const has = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  const isEqual = Object.entries(matchLabels).every(([key, value]) => has(key) === value);
  // All are looked at: a wrong one is reported whatever the others say.
  const holds = matchExpressions.map(({ key, operator, values = [] }) => {
    const name = operator.toLowerCase();
    const holdsFor = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
    if (holdsFor === undefined)
      throw new Fault("Invalid", "matchExpressions", `there is no operator ${JSON.stringify(operator.slice(0, 64))}`, {
        remedy: "use In, NotIn, Exists or DoesNotExist",
      });
    if (values.length === 0 && name !== "exists" && name !== "doesnotexist")
      throw new Fault("Invalid", "matchExpressions", `operator ${operator} on ${key} has no values`);
    return holdsFor(has(key), values);
  });
  return isEqual && holds.every(Boolean);
}

function compared(
  value: string | undefined,
  than: string | undefined,
  holds: (a: number, b: number) => boolean,
): boolean {
  const [a, b] = [Number(value), Number(than)];
  return holds(a, b);
}
