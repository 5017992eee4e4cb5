import type { PolicyRule } from "../rbac/policy-rule.ts";

/**
 * Rules of the default roles, by role, in one line each:
 * `get,list pods,pods/log`, `create events in core,events.k8s.io`, `update leases in coordination.k8s.io named x`, `get at /healthz,/livez`.
 * Without `in` the core group is meant.
 */
export type RoleTable = Readonly<Record<string, readonly string[]>>;

/** The rule that a line says. */
export function ruleOf(line: string): PolicyRule {
  const [verbs, what, ...rest] = line.split(" ");
  const word = (name: string): string[] | undefined => rest[rest.indexOf(name) + 1]?.split(",");
  if (what === "at") return { verbs: list(verbs), nonResourceURLs: list(rest[0]) };
  return {
    verbs: list(verbs),
    apiGroups: rest.includes("in") ? word("in")!.map((group) => (group === "core" ? "" : group)) : [""],
    resources: list(what),
    ...(rest.includes("named") && { resourceNames: word("named")! }),
  };
}

function list(words: string | undefined): string[] {
  return (words ?? "").split(",");
}
