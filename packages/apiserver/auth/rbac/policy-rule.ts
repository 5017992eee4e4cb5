import type { Attributes } from "../../core/attributes.ts";
import type { Body } from "../../model/served.ts";

/** One rule of a Role or ClusterRole: verbs on resources of groups, or on paths. Absent lists are empty. */
export interface PolicyRule {
  verbs: readonly string[];
  apiGroups?: readonly string[];
  resources?: readonly string[];
  resourceNames?: readonly string[];
  nonResourceURLs?: readonly string[];
}

/** The rules of a stored Role or ClusterRole. */
export function rulesOf(role: Body): readonly PolicyRule[] {
  return (role.rules as readonly PolicyRule[] | undefined) ?? [];
}

/** Whether one rule permits what is asked. `*` stands for all; `*` before a slash for that subresource of all. */
export function allows(rule: PolicyRule, asked: Attributes): boolean {
  if (!hasOrAll(rule.verbs, asked.verb)) return false;
  if (asked.plural === "") return (rule.nonResourceURLs ?? []).some((url) => covers(url, asked.path));
  return (
    hasOrAll(rule.apiGroups, asked.group) &&
    isResourceIn(rule.resources ?? [], asked) &&
    (isEmpty(rule.resourceNames) || rule.resourceNames!.includes(asked.name))
  );
}

/** Whether a rule's path, which may end in `*`, takes in `path`. */
export function covers(url: string, path: string): boolean {
  return url === path || (url.endsWith("*") && path.startsWith(url.replace(/\*+$/, "")));
}

/** Whether a list of a rule is absent or empty, which mean the same. */
export function isEmpty(list: readonly string[] | undefined): boolean {
  return list === undefined || list.length === 0;
}

/** Whether `*` or the value itself is in the list. */
export function hasOrAll(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes("*") || list.includes(value));
}

function isResourceIn(resources: readonly string[], { plural, subresource }: Attributes): boolean {
  if (resources.includes("*")) return true;
  if (subresource === "") return resources.includes(plural);
  return resources.includes(`${plural}/${subresource}`) || resources.includes(`*/${subresource}`);
}
