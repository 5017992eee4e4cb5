import { isEmpty, type PolicyRule } from "./policy-rule.ts";

/** Parts that differ by their verb alone put together again, each as kube-apiserver writes rules in refusals, in order of text. */
export function describeRules(parts: readonly PolicyRule[]): string[] {
  const byThing = new Map<string, PolicyRule & { verbs: string[] }>();
  const whole: PolicyRule[] = [];
  for (const part of parts) {
    if (!isEmpty(part.nonResourceURLs)) {
      whole.push(part);
      continue;
    }
    const { verbs, ...thing } = part;
    const key = JSON.stringify(thing);
    const together = byThing.get(key);
    if (together === undefined) byThing.set(key, { ...thing, verbs: [...verbs] });
    else together.verbs.push(...verbs);
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
  const texts = parts.filter(([, list]) => !isEmpty(list)).map(([name, list]) => `${name}:${quotedList(list!)}`);
  return `{${texts.join(", ")}}`;
}

/** A list of texts as Go's `%q` prints it. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}
