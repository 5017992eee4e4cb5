import type { Access, Controller, Verb } from "./controller.ts";
import { accessOf } from "./declared-client.ts";

/** One rule of a Role or ClusterRole (rbac.authorization.k8s.io/v1). */
export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
  verbs: Verb[];
}

export interface RbacRules {
  clusterRules: PolicyRule[];
  roles: { namespace: string; rules: PolicyRule[] }[];
}

const VERB_ORDER: readonly Verb[] = ["get", "list", "watch", "create", "update", "patch", "delete"];

/**
 * The least rules under which the controllers work: their declared access, and list and watch on their sources. `more` is what
 * the process needs besides (`runtimeAccess`). The same input gives the same text, in whatever order it comes.
 */
export function rulesOf(controllers: readonly Controller[], more: readonly Access[] = []): RbacRules {
  const access = [...controllers.flatMap(accessOf), ...more].flatMap(splitCreate);
  const byNamespace = Map.groupBy(access, (a) => a.namespace ?? "");
  const roles = [...byNamespace.keys()].filter((namespace) => namespace !== "").sort();
  return {
    clusterRules: rules(byNamespace.get("") ?? []),
    roles: roles.map((namespace) => ({ namespace, rules: rules(byNamespace.get(namespace)!) })),
  };
}

/** RBAC can't tie `create` to a name, since the object has none yet when it is authorized. */
function splitCreate(access: Access): Access[] {
  if (access.names === undefined || !access.verbs.includes("create")) return [access];
  const { names: _, ...anyName } = access;
  const others = access.verbs.filter((verb) => verb !== "create");
  return [{ ...anyName, verbs: ["create"] }, ...(others.length === 0 ? [] : [{ ...access, verbs: others }])];
}

function rules(access: readonly Access[]): PolicyRule[] {
  const verbsOf = new Map<string, Set<Verb>>();
  for (const a of access) {
    const resource = a.subresource === undefined ? a.resource.plural : `${a.resource.plural}/${a.subresource}`;
    const names = a.names === undefined ? undefined : [...new Set(a.names)].sort();
    const key = JSON.stringify([a.resource.group, resource, names ?? null]);
    const verbs = verbsOf.get(key) ?? new Set();
    for (const verb of a.verbs) verbs.add(verb);
    verbsOf.set(key, verbs);
  }
  const single = [...verbsOf].map(([key, verbs]) => ({ key: JSON.parse(key) as RuleKey, verbs: inOrder(verbs) }));
  // Resources of one group with the same verbs and names stand in one rule.
  const merged = Map.groupBy(single, ({ key: [group, , names], verbs }) => JSON.stringify([group, names, verbs]));
  return [...merged.values()].map(ruleOf).sort((a, b) => compare(JSON.stringify(a), JSON.stringify(b)));
}

type RuleKey = [group: string, resource: string, names: string[] | null];

function ruleOf(same: { key: RuleKey; verbs: Verb[] }[]): PolicyRule {
  const { key, verbs } = same[0]!;
  const [group, , names] = key;
  const resources = same.map((s) => s.key[1]).sort();
  return { apiGroups: [group], resources, ...(names === null ? {} : { resourceNames: names }), verbs };
}

function inOrder(verbs: ReadonlySet<Verb>): Verb[] {
  return VERB_ORDER.filter((verb) => verbs.has(verb));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
