/** Label selectors (`metav1.LabelSelector`): whether labels match, and how one is written for a request. Pure. */
import { Fault } from "@slipway/base";

/** A label selector as objects carry it: all parts must hold. */
export interface LabelSelector {
  matchLabels?: Readonly<Record<string, string>> | undefined;
  matchExpressions?: readonly Requirement[] | undefined;
}

interface Requirement {
  key: string;
  operator: string;
  values?: readonly string[] | undefined;
}

type Labels = Readonly<Record<string, string>>;

/** By the operator in lower case: some kinds have them so (HostClaim), `metav1.LabelSelector` begins them with a capital. */
const OPERATORS: Readonly<Record<string, (value: string | undefined, values: readonly string[]) => boolean>> = {
  in: (value, values) => value !== undefined && values.includes(value),
  // Without the label it holds, as in Kubernetes.
  notin: (value, values) => value === undefined || !values.includes(value),
  exists: (value) => value !== undefined,
  doesnotexist: (value) => value === undefined,
  "=": (value, [wanted]) => value === wanted,
  "==": (value, [wanted]) => value === wanted,
  "!=": (value, [unwanted]) => value !== unwanted,
  gt: (value, [than]) => Number(value) > Number(than),
  lt: (value, [than]) => Number(value) < Number(than),
};

/** The operators of `metav1.LabelSelector`. */
const METAV1: ReadonlySet<string> = new Set(["In", "NotIn", "Exists", "DoesNotExist"]);

/** Whether a `metav1.LabelSelector` selects objects with these labels. An empty one selects all; one that Kubernetes refuses, none. */
export function selects(selector: LabelSelector, labels: Labels = {}): boolean {
  const { matchExpressions = [] } = selector;
  return (
    matchExpressions.every((one) => METAV1.has(one.operator) && wrongWith(one) === undefined) && holds(selector, labels)
  );
}

/**
 * `selects` for kinds that also take operators in lower case, `=`, `==`, `!=`, and `gt` and `lt` of numbers.
 * Throws a `Fault` (`Invalid`) for an operator that there is not, or without its values, whatever the other parts say.
 */
export function matchesLabels(selector: LabelSelector, labels: Labels): boolean {
  for (const one of selector.matchExpressions ?? []) {
    const wrong = wrongWith(one);
    if (wrong !== undefined) throw wrong;
  }
  return holds(selector, labels);
}

/** The selector as `kubectl get --selector` takes it, in an order of its own. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const others = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator.toLowerCase()} (${values.toSorted().join(",")})`;
  });
  return [...equal.toSorted(), ...others.toSorted()].join(",");
}

function wrongWith({ key, operator, values = [] }: Requirement): Fault | undefined {
  const name = operator.toLowerCase();
  if (!Object.hasOwn(OPERATORS, name))
    return new Fault("Invalid", "matchExpressions", `there is no operator ${JSON.stringify(operator.slice(0, 64))}`, {
      remedy: "use In, NotIn, Exists or DoesNotExist",
    });
  if (values.length === 0 && name !== "exists" && name !== "doesnotexist")
    return new Fault("Invalid", "matchExpressions", `operator ${operator} on ${key} has no values`);
  return undefined;
}

function holds({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  // A label that every JavaScript object seems to have, such as `constructor`, counts only where it was given.
  const labelOf = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  return (
    Object.entries(matchLabels).every(([key, value]) => labelOf(key) === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => OPERATORS[operator.toLowerCase()]!(labelOf(key), values))
  );
}
