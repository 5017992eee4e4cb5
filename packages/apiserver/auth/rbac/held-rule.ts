import { isEmpty, type PolicyRule } from "./policy-rule.ts";

/** Values of one kind: `all` of them, or those that `has` takes in. */
interface Values {
  all: boolean;
  has(asked: Asked): boolean;
}

/** A value that a permission names. No name is the right to all names. */
export interface Asked {
  value: string | undefined;
  /** The form of a subresource that stands for all resources. */
  ofAll: string | undefined;
}

/** `*` and the subresource of a resource like `pods/log`; undefined for one without. */
export function ofAll(resource: string | undefined): string | undefined {
  const slash = resource?.indexOf("/") ?? -1;
  return slash < 0 ? undefined : `*/${resource!.slice(slash + 1)}`;
}

/** What a rule says of each part of a permission. A permission is one verb on one resource of a group, of one or any name, or on one path. */
export type HeldRule = Readonly<Record<"verb" | "group" | "resource" | "name" | "path", Values>>;

const NOTHING: Values = { all: false, has: () => false };

/** A rule made ready for many questions. Costs n log n of its bytes; each answer costs no more than what is asked. */
export function heldRule({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): HeldRule {
  return {
    verb: among(verbs),
    group: among(apiGroups),
    resource: among(resources),
    // Without names a rule is about all; a list of names never takes in the right to all.
    name: isEmpty(resourceNames) ? { all: true, has: () => true } : { ...among(resourceNames), all: false },
    path: pathsIn(nonResourceURLs),
  };
}

function among(values: readonly string[] | undefined): Values {
  if (isEmpty(values)) return NOTHING;
  const set = new Set<string | undefined>(values);
  return {
    all: set.has("*"),
    has: ({ value, ofAll: other }) => set.has(value) || (other !== undefined && set.has(other)),
  };
}

function pathsIn(paths: readonly string[] | undefined): Values {
  if (isEmpty(paths)) return NOTHING;
  const exact = new Set(paths);
  const patterns = paths!.filter((path) => path.endsWith("*")).map((path) => path.replace(/\*+$/, ""));
  const prefixes = outermost(patterns.sort());
  return {
    all: prefixes[0] === "",
    has: ({ value: path }) => path !== undefined && (exact.has(path) || startsWithOne(prefixes, path)),
  };
}

/** Those of sorted texts that don't start with another. */
function outermost(sorted: readonly string[]): string[] {
  const kept: string[] = [];
  for (const text of sorted) if (kept.length === 0 || !text.startsWith(kept.at(-1)!)) kept.push(text);
  return kept;
}

/** Of sorted prefixes of which none starts with another, only the last that is not behind the text can be one of its own. */
function startsWithOne(prefixes: readonly string[], text: string): boolean {
  let [low, high] = [0, prefixes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (prefixes[middle]! <= text) low = middle + 1;
    else high = middle;
  }
  return low > 0 && text.startsWith(prefixes[low - 1]!);
}
