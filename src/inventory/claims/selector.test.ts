import assert from "node:assert/strict";
import { test } from "node:test";
import { type LabelSelector, matchesLabels } from "./selector.ts";

const LABELS = { rack: "a1", size: "12", empty: "" };
const expression = (key: string, operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, values }],
});

test("selectors are read as Kubernetes reads them, with HostClaim's spelling of operators too", () => {
  const cases: [LabelSelector, boolean][] = [
    [{}, true],
    [{ matchLabels: { rack: "a1", empty: "" } }, true],
    [{ matchLabels: { rack: "a1", other: "" } }, false],
    [{ matchLabels: { constructor: "x" } }, false],
    [expression("rack", "In", "b", "a1"), true],
    [expression("rack", "in", "b"), false],
    [expression("gone", "In", "a1"), false],
    [expression("rack", "NotIn", "a1"), false],
    [expression("gone", "notin", "a1"), true],
    [expression("empty", "Exists"), true],
    [expression("gone", "Exists"), false],
    [expression("gone", "DoesNotExist"), true],
    [expression("rack", "doesnotexist"), false],
    [expression("rack", "=", "a1"), true],
    [expression("rack", "!=", "a1"), false],
    [expression("size", "Gt", "11"), true],
    [expression("size", "lt", "12"), false],
    [expression("rack", "gt", "1"), false],
    [expression("gone", "lt", "1"), false],
    [{ matchLabels: { rack: "a1" }, ...expression("size", "In", "13") }, false],
  ];
  for (const [selector, expected] of cases)
    assert.equal(matchesLabels(selector, LABELS), expected, JSON.stringify(selector));
});

test("an operator that there is not, or without values, is an error, also where the labels decide", () => {
  for (const operator of ["Near", "constructor", ""])
    assert.throws(
      () => matchesLabels({ matchLabels: { rack: "b" }, ...expression("rack", operator, "a") }, LABELS),
      /there is no operator/,
    );
  assert.throws(() => matchesLabels(expression("rack", "In"), LABELS), /operator In on rack has no values/);
});
