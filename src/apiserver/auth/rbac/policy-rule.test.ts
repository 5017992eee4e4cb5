import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Attributes } from "../authorize.ts";
import { describeRules, uncovered } from "./coverage.ts";
import { allows, type PolicyRule } from "./policy-rule.ts";

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

test("a rule covers itself and is covered by everything, and nothing covers what it lacks", () => {
  const some = (...all: string[]) => fc.subarray(all, { minLength: 1 });
  const rule = fc.record({
    verbs: some("get", "list", "*"),
    apiGroups: some("", "apps"),
    resources: some("a", "b/c", "*/d"),
  });
  const all: PolicyRule = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };
  fc.assert(
    fc.property(fc.array(rule), (rules) => {
      assert.deepEqual(uncovered(rules, rules), []);
      assert.deepEqual(uncovered([all], rules), []);
      assert.equal(uncovered([], rules).length > 0, rules.length > 0);
    }),
  );
});

test("what is missing is told by thing, its verbs together, in order", () => {
  const wanted: PolicyRule[] = [
    { verbs: ["get", "list"], apiGroups: [""], resources: ["secrets", "pods"] },
    { verbs: ["get"], nonResourceURLs: ["/metrics"] },
  ];
  assert.deepEqual(describeRules(uncovered([pods], wanted)), [
    '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}',
    '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
    '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
  ]);
});

test("a right to one name does not cover the right to all", () => {
  const named: PolicyRule = { ...pods, resourceNames: ["x"] };
  assert.equal(uncovered([named], [pods]).length, 1);
  assert.equal(uncovered([pods], [named]).length, 0);
});
