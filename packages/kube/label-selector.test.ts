import assert from "node:assert/strict";
import { test } from "node:test";
import { type LabelSelector, matchesLabels, selectorText, selects } from "./label-selector.ts";

const expression = (operator: string, values?: string[], key = "zone") => ({
  matchExpressions: [{ key, operator, ...(values && { values }) }],
});

test("a selector selects by equal labels and by expressions, all of them; an empty one selects all", () => {
  const labels = { zone: "a", tier: "web" };
  assert.equal(selects({}, labels), true);
  assert.equal(selects({ matchLabels: { zone: "a", tier: "web" } }, labels), true);
  assert.equal(selects({ matchLabels: { zone: "a", tier: "db" } }, labels), false);
  assert.equal(selects(expression("In", ["a", "b"]), labels), true);
  assert.equal(selects(expression("In", ["b"]), labels), false);
  assert.equal(selects(expression("In", ["b"]), {}), false);
  assert.equal(selects(expression("NotIn", ["a"]), labels), false);
  assert.equal(selects(expression("NotIn", ["a"]), {}), true);
  assert.equal(selects(expression("Exists"), labels), true);
  assert.equal(selects(expression("Exists"), {}), false);
  assert.equal(selects(expression("DoesNotExist"), {}), true);
  assert.equal(selects(expression("DoesNotExist"), labels), false);
  assert.equal(selects(expression("Near", ["a"]), labels), false);
  assert.equal(selects({ matchLabels: { zone: "a" }, ...expression("Exists", undefined, "tier") }, labels), true);
});

test("what Kubernetes refuses selects nothing: an operator of another spelling or kind, or without values", () => {
  for (const refused of [expression("in", ["a"]), expression("Gt", ["1"]), expression("=", ["a"])])
    assert.equal(selects(refused, { zone: "a" }), false);
  assert.equal(selects(expression("NotIn"), { zone: "a" }), false);
  assert.equal(selects(expression("NotIn", []), {}), false);
});

test("no label is there that was not given, whatever its name", () => {
  assert.equal(selects(expression("Exists", undefined, "constructor"), {}), false);
  assert.equal(selects(expression("DoesNotExist", undefined, "toString"), {}), true);
});

test("a selector is written as kubectl takes it, in an order of its own", () => {
  const matchExpressions = [
    { key: "zone", operator: "In", values: ["b", "a"] },
    { key: "old", operator: "DoesNotExist" },
    { key: "new", operator: "Exists" },
    { key: "tier", operator: "NotIn", values: ["db"] },
  ];
  assert.equal(
    selectorText({ matchLabels: { b: "2", a: "1" }, matchExpressions }),
    "a=1,b=2,!old,new,tier notin (db),zone in (a,b)",
  );
});

const LABELS = { rack: "a1", size: "12", empty: "" };
const requirement = (key: string, operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, values }],
});

test("selectors are read as Kubernetes reads them, with HostClaim's spelling of operators too", () => {
  const cases: [LabelSelector, boolean][] = [
    [{}, true],
    [{ matchLabels: { rack: "a1", empty: "" } }, true],
    [{ matchLabels: { rack: "a1", other: "" } }, false],
    [{ matchLabels: { constructor: "x" } }, false],
    [requirement("rack", "In", "b", "a1"), true],
    [requirement("rack", "in", "b"), false],
    [requirement("gone", "In", "a1"), false],
    [requirement("rack", "NotIn", "a1"), false],
    [requirement("gone", "notin", "a1"), true],
    [requirement("empty", "Exists"), true],
    [requirement("gone", "Exists"), false],
    [requirement("gone", "DoesNotExist"), true],
    [requirement("rack", "doesnotexist"), false],
    [requirement("rack", "=", "a1"), true],
    [requirement("rack", "!=", "a1"), false],
    [requirement("size", "Gt", "11"), true],
    [requirement("size", "lt", "12"), false],
    [requirement("rack", "gt", "1"), false],
    [requirement("gone", "lt", "1"), false],
    [{ matchLabels: { rack: "a1" }, ...requirement("size", "In", "13") }, false],
  ];
  for (const [selector, expected] of cases)
    assert.equal(matchesLabels(selector, LABELS), expected, JSON.stringify(selector));
});

test("an operator that there is not, or without values, is an error, also where the labels decide", () => {
  for (const operator of ["Near", "constructor", ""])
    assert.throws(
      () => matchesLabels({ matchLabels: { rack: "b" }, ...requirement("rack", operator, "a") }, LABELS),
      /there is no operator/,
    );
  assert.throws(() => matchesLabels(requirement("rack", "In"), LABELS), /operator In on rack has no values/);
});
