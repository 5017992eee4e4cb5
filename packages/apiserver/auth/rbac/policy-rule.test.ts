import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Attributes } from "../../core/attributes.ts";
import { uncovered } from "./coverage.ts";
import { allows, covers, hasOrAll, isEmpty, type PolicyRule } from "./policy-rule.ts";
import { describeRules } from "./rule-text.ts";

const asked = (more: Partial<Attributes>): Attributes => ({
  user: { name: "bob", groups: [] },
  verb: "get",
  group: "",
  version: "v1",
  plural: "pods",
  subresource: "",
  namespace: "a",
  name: "x",
  path: "",
  ...more,
});
const pods: PolicyRule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };

const CASES: [rule: string, PolicyRule, Partial<Attributes>, boolean][] = [
  ["a verb that is named", pods, {}, true],
  ["no other verb", pods, { verb: "list" }, false],
  ["no other group", pods, { group: "apps" }, false],
  ["any group under *", { ...pods, apiGroups: ["*"] }, { group: "apps" }, true],
  ["a resource does not stand for its subresources", pods, { subresource: "log" }, false],
  ["a subresource by its name", { ...pods, resources: ["pods/log"] }, { subresource: "log" }, true],
  [
    "a subresource of all resources",
    { ...pods, resources: ["*/scale"] },
    { plural: "things", subresource: "scale" },
    true,
  ],
  ["resource/* is no pattern", { ...pods, resources: ["pods/*"] }, { subresource: "log" }, false],
  ["all resources and subresources under *", { ...pods, resources: ["*"] }, { subresource: "log" }, true],
  ["one name only", { ...pods, resourceNames: ["y"] }, {}, false],
  ["a collection has no name", { ...pods, resourceNames: ["x"] }, { name: "" }, false],
  ["a path", { verbs: ["get"], nonResourceURLs: ["/healthz"] }, { plural: "", path: "/healthz" }, true],
  ["paths below", { verbs: ["get"], nonResourceURLs: ["/api/*"] }, { plural: "", path: "/api/v1" }, true],
  ["the path above is not below", { verbs: ["get"], nonResourceURLs: ["/api/*"] }, { plural: "", path: "/api" }, false],
  ["rules on paths say nothing of resources", { verbs: ["*"], nonResourceURLs: ["*"] }, {}, false],
  [
    "rules on resources say nothing of paths",
    { ...pods, verbs: ["*"], resources: ["*"] },
    { plural: "", path: "/x" },
    false,
  ],
];
for (const [title, rule, more, allowed] of CASES)
  test(`a rule permits: ${title}`, () => assert.equal(allows(rule, asked(more)), allowed));

test("a rule covers itself and is covered by everything, and nothing covers what is missing in it", () => {
  const some = (...all: string[]) => fc.subarray(all, { minLength: 1 });
  const rule = fc.record({
    verbs: some("get", "list", "*"),
    apiGroups: some("", "apps"),
    resources: some("a", "b/c", "*/d"),
  });
  const all: PolicyRule = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };
  fc.assert(
    fc.property(fc.array(rule), (rules) => {
      assert.deepEqual(uncovered(rules, rules).parts, []);
      assert.deepEqual(uncovered([all], rules).parts, []);
      assert.equal(uncovered([], rules).parts.length > 0, rules.length > 0);
    }),
  );
});

test("what is missing is reported by thing, its verbs together, in order", () => {
  const wanted: PolicyRule[] = [
    { verbs: ["get", "list"], apiGroups: [""], resources: ["secrets", "pods"] },
    { verbs: ["get"], nonResourceURLs: ["/metrics"] },
  ];
  assert.deepEqual(describeRules(uncovered([pods], wanted).parts), [
    '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}',
    '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
    '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
  ]);
});

test("a right to one name does not cover the right to all", () => {
  const named: PolicyRule = { ...pods, resourceNames: ["x"] };
  assert.equal(uncovered([named], [pods]).parts.length, 1);
  assert.equal(uncovered([pods], [named]).parts.length, 0);
});

test("what is missing is what is left of all parts of the wanted rules, each held against all rules", () => {
  const some = (...all: string[]) => fc.array(fc.constantFrom(...all), { maxLength: 4 });
  const rule = fc.record({
    verbs: some("get", "list", "watch", "*"),
    apiGroups: some("", "apps", "*"),
    resources: some("a", "b", "b/c", "d/c", "*/c", "*"),
    resourceNames: some("x", "y", "*"),
    nonResourceURLs: some("/a", "/a/b", "/a/*", "/a*", "/b**", "*"),
  });
  const rules = fc.array(rule, { maxLength: 5 });
  fc.assert(
    fc.property(rules, rules, (held, wanted) => {
      assert.deepEqual(uncovered(held, wanted).parts, oneByOne(held, wanted));
    }),
    { numRuns: 500 },
  );
});

/** `Covers` as upstream has it: every part against every rule. */
function oneByOne(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const parts = wanted.flatMap(
    ({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }) => [
      ...apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.flatMap((verb) =>
            (resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }))).map(
              (named): PolicyRule => ({ verbs: [verb], apiGroups: [group], resources: [resource], ...named }),
            ),
          ),
        ),
      ),
      ...nonResourceURLs.flatMap((url) => verbs.map((verb): PolicyRule => ({ verbs: [verb], nonResourceURLs: [url] }))),
    ],
  );
  return parts.filter((part) => !held.some((rule) => takesIn(rule, part)));
}

function takesIn(rule: PolicyRule, part: PolicyRule): boolean {
  if (!hasOrAll(rule.verbs, part.verbs[0]!)) return false;
  const [url] = part.nonResourceURLs ?? [];
  if (url !== undefined) return (rule.nonResourceURLs ?? []).some((pattern) => covers(pattern, url));
  const [group, resource, name] = [part.apiGroups![0]!, part.resources![0]!, part.resourceNames?.[0]];
  const [, subresource] = resource.split(/\/(.*)/s);
  return (
    hasOrAll(rule.apiGroups, group) &&
    (hasOrAll(rule.resources, resource) || rule.resources!.includes(`*/${subresource}`)) &&
    (isEmpty(rule.resourceNames) || (name !== undefined && rule.resourceNames!.includes(name)))
  );
}

const many = (what: string) => Array.from({ length: 5_000 }, (_, i) => `${what}${i}`);
const billions: PolicyRule = {
  verbs: many("v"),
  apiGroups: many("g"),
  resources: many("r"),
  resourceNames: many("n"),
  nonResourceURLs: many("/u"),
};

test("a rule of a billion parts is compared without making them", () => {
  const others = many("v").slice(1);
  assert.deepEqual(uncovered([billions], [billions]), { ...uncovered([], []) });
  const { parts, more, undecided } = uncovered([{ ...billions, verbs: others }], [billions]);
  assert.deepEqual({ listed: parts.length, more, undecided }, { listed: 4_000, more: true, undecided: false });
  assert.ok(parts.every(({ verbs }) => verbs[0] === "v0"));
});

test("rules that are too many to compare are given up, not worked on for minutes", () => {
  const each = (length: number, what: string) =>
    Array.from({ length }, (_, i): PolicyRule => ({ ...pods, resources: [`${what}${i}`] }));
  assert.equal(uncovered(each(1_000, "held"), each(100, "r")).undecided, false);
  assert.equal(uncovered(each(1_000, "held"), each(5_000, "r")).undecided, true);
});
