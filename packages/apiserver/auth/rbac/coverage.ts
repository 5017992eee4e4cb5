import { type Asked, type HeldRule, heldRule, ofAll } from "./held-rule.ts";
import { isEmpty, type PolicyRule } from "./policy-rule.ts";

/** What some rules don't permit of others. */
export interface Uncovered {
  /** One verb on one thing each, in kube-apiserver's order. */
  parts: readonly PolicyRule[];
  /** There are more parts than are listed. */
  more: boolean;
  /** The comparison was given up: what was not compared counts as uncovered. */
  undecided: boolean;
}

/** What is listed at most. A rule of a few kilobytes may have billions of parts. */
const MAX_PARTS = 4_000;
const MAX_LISTED_LETTERS = 256 * 1024;

/** Values looked up in held rules at most: a fraction of a second. A thousand rules compared with a hundred need a tenth of it. */
const MAX_LOOKUPS = 2_000_000;

/**
 * The parts of `wanted`, one verb on one thing each, that no single rule of `held` takes in (upstream's `Covers` of
 * component-helpers/auth/rbac/validation). A rule is compared whole, and only what is left of it is broken down.
 */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Uncovered {
  const rules = held.map(heldRule).sort((a, b) => breadth(b) - breadth(a));
  const work = { lookups: MAX_LOOKUPS };
  const found = { parts: [] as PolicyRule[], letters: 0, more: false, undecided: false };
  for (const rule of wanted) {
    for (const whole of [onResources(rule), onPaths(rule)]) list(found, leftOf(whole, rules, work));
    if (work.lookups < 0) return { ...found, undecided: true };
  }
  return found;
}

/** What of a block the rules leave. */
function leftOf(whole: Block, rules: readonly HeldRule[], work: { lookups: number }): Block[] {
  let blocks: Block[] = whole.every(({ values }) => values.length > 0) ? [whole] : [];
  for (const one of rules) {
    if (blocks.length === 0 || work.lookups < 0) break;
    blocks = blocks.flatMap((block) => without(block, one, work));
  }
  return blocks;
}

/** Rules that permit most come first: they leave the least to compare. */
function breadth(rule: HeldRule): number {
  return Object.values(rule).filter(({ all }) => all).length;
}

interface Value extends Asked {
  at: number;
}

interface Side {
  of: keyof HeldRule;
  /** Where each value stands in its rule: the order in which parts are listed. */
  values: readonly Value[];
}

/** All combinations of one value of each side: a rule, or what is left of one. */
type Block = readonly Side[];

function side(of: keyof HeldRule, values: readonly (string | undefined)[] = []): Side {
  return {
    of,
    values: values.map((value, at) => ({ value, at, ofAll: of === "resource" ? ofAll(value) : undefined })),
  };
}

function onResources({ verbs, apiGroups, resources, resourceNames }: PolicyRule): Block {
  const names = isEmpty(resourceNames) ? [undefined] : resourceNames;
  return [side("group", apiGroups), side("resource", resources), side("verb", verbs), side("name", names)];
}

function onPaths({ verbs, nonResourceURLs }: PolicyRule): Block {
  return [side("path", nonResourceURLs), side("verb", verbs)];
}

/** What a rule leaves of a block, in blocks that share nothing: no more of them than the block has sides. */
function without(block: Block, rule: HeldRule, work: { lookups: number }): Block[] {
  const inside: Side[] = [];
  const left: Block[] = [];
  for (const [i, { of, values }] of block.entries()) {
    const { all, has } = rule[of];
    if (!all) for (const { value } of values) work.lookups -= 1 + ((value?.length ?? 0) >> 6);
    if (work.lookups < 0) return [block];
    const permitted = all ? values : values.filter(has);
    if (permitted.length === 0) return [block];
    if (permitted.length < values.length) {
      const others = values.filter((value) => !has(value));
      left.push([...inside, { of, values: others }, ...block.slice(i + 1)]);
    }
    inside.push({ of, values: permitted });
  }
  return left;
}

/** Adds the parts of what is left of one rule, as many as fit. */
function list(found: { parts: PolicyRule[]; letters: number; more: boolean }, blocks: readonly Block[]): void {
  const listed: Part[] = [];
  for (const block of blocks)
    for (const part of partsOf(block)) {
      found.letters += part.reduce((letters, { value }) => letters + (value?.length ?? 0), 0);
      found.more ||= found.parts.length + listed.length >= MAX_PARTS || found.letters > MAX_LISTED_LETTERS;
      if (found.more) break;
      listed.push(part);
    }
  found.parts.push(...listed.sort(inOrder).map(ruleOf));
}

type Part = readonly (Value & { of: keyof HeldRule })[];

function* partsOf([first, ...others]: Block): Generator<Part> {
  if (first === undefined) yield [];
  else
    for (const value of first.values) for (const rest of partsOf(others)) yield [{ ...value, of: first.of }, ...rest];
}

function inOrder(a: Part, b: Part): number {
  const i = a.findIndex(({ at }, side) => at !== b[side]!.at);
  return i < 0 ? 0 : a[i]!.at - b[i]!.at;
}

const FIELDS = {
  verb: "verbs",
  group: "apiGroups",
  resource: "resources",
  name: "resourceNames",
  path: "nonResourceURLs",
} as const;

function ruleOf(part: Part): PolicyRule {
  const named = part.filter(({ value }) => value !== undefined);
  return Object.fromEntries(named.map(({ of, value }) => [FIELDS[of], [value]])) as unknown as PolicyRule;
}
