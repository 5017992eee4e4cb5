import { covers, hasOrAll, isEmpty, type PolicyRule } from "./policy-rule.ts";

/** The parts of `wanted`, one verb on one thing each, that no single rule of `held` takes in. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((part) => !held.some((rule) => takesIn(rule, part)));
}

function breakDown(rule: PolicyRule): PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }));
  const onResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((named) => ({ verbs: [verb], apiGroups: [group], resources: [resource], ...named })),
      ),
    ),
  );
  const onPaths = nonResourceURLs.flatMap((url) => verbs.map((verb) => ({ verbs: [verb], nonResourceURLs: [url] })));
  return [...onResources, ...onPaths];
}

/** Whether `rule` permits all of `part`, which has at most one of each. */
function takesIn(rule: PolicyRule, part: PolicyRule): boolean {
  const verb = part.verbs[0]!;
  if (!hasOrAll(rule.verbs, verb)) return false;
  const [url] = part.nonResourceURLs ?? [];
  if (url !== undefined) return (rule.nonResourceURLs ?? []).some((held) => covers(held, url));
  const [group, resource, name] = [part.apiGroups![0]!, part.resources![0]!, part.resourceNames?.[0]];
  const [, subresource] = resource.split(/\/(.*)/s);
  return (
    hasOrAll(rule.apiGroups, group) &&
    (hasOrAll(rule.resources, resource) ||
      (subresource !== undefined && (rule.resources ?? []).includes(`*/${subresource}`))) &&
    (isEmpty(rule.resourceNames) || (name !== undefined && rule.resourceNames!.includes(name)))
  );
}

/** Parts that differ by their verb alone put together again, each as kube-apiserver writes rules in refusals, in order of text. */
export function describeRules(parts: readonly PolicyRule[]): string[] {
  const byThing = new Map<string, PolicyRule>();
  const whole: PolicyRule[] = [];
  for (const part of parts) {
    if (!isEmpty(part.nonResourceURLs)) {
      whole.push(part);
      continue;
    }
    const { verbs, ...thing } = part;
    const key = JSON.stringify(thing);
    byThing.set(key, { ...thing, verbs: [...(byThing.get(key)?.verbs ?? []), ...verbs] });
  }
  return [...new Set([...whole, ...byThing.values()].map(describeRule))].sort();
}

function describeRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  });
  const told = parts.filter(([, list]) => !isEmpty(list)).map(([name, list]) => `${name}:${quotedList(list!)}`);
  return `{${told.join(", ")}}`;
}

/** A list of texts as Go's `%q` prints it. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}
