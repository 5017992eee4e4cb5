/** Selectors of labels, in the words of Kubernetes' validation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { selects, validateLabelSelector } from "./name-rules.ts";

const lines = (selector: unknown) =>
  validateLabelSelector(selector, "spec.selector").map((e) => `${e.field}: ${e.message}`);
const expressions = (...matchExpressions: object[]) => ({ matchExpressions });
const at = "spec.selector.matchExpressions[0]";

test("an expression's operator needs its values, or must have none", () => {
  for (const operator of ["In", "NotIn"]) {
    assert.deepEqual(lines(expressions({ key: "a", operator, values: ["b"] })), []);
    const without = "Required value: must be specified when `operator` is 'In' or 'NotIn'";
    assert.deepEqual(lines(expressions({ key: "a", operator, values: [] })), [`${at}.values: ${without}`]);
  }
  for (const operator of ["Exists", "DoesNotExist"]) {
    assert.deepEqual(lines(expressions({ key: "a", operator })), []);
    const values = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    assert.deepEqual(lines(expressions({ key: "a", operator, values: ["b"] })), [`${at}.values: ${values}`]);
  }
});

test("an operator that there is not is refused, and one that is left out is the empty one", () => {
  for (const [expression, shown] of [
    [{ key: "a", operator: "Near" }, '"Near"'],
    [{ key: "a" }, '""'],
  ] as const)
    assert.deepEqual(lines(expressions(expression)), [
      `${at}.operator: Invalid value: ${shown}: not a valid selector operator`,
    ]);
});

test("keys and values of labels are checked, each where it stands", () => {
  const found = validateLabelSelector(
    { matchLabels: { "-a": "b", a: "-b" }, ...expressions({ key: "-c", operator: "Exists" }) },
    "s",
  );
  assert.deepEqual(
    found.map(({ field }) => field),
    ["s.matchLabels", "s.matchLabels", "s.matchExpressions[0].key"],
  );
});

test("a selector matches labels that meet all of it; an absent one matches nothing, an empty one all", () => {
  const labels = { app: "x", tier: "front" };
  assert.equal(selects(undefined, labels), false);
  assert.equal(selects(null, labels), false);
  assert.equal(selects({}, {}), true);
  for (const [matches, app, expression] of [
    [true, "x", { key: "tier", operator: "In", values: ["front", "back"] }],
    [false, "y", { key: "tier", operator: "In", values: ["front"] }],
    [false, "x", { key: "tier", operator: "In", values: ["back"] }],
    [false, "x", { key: "zone", operator: "In", values: ["undefined"] }],
    [true, "x", { key: "tier", operator: "NotIn", values: ["back"] }],
    [true, "x", { key: "zone", operator: "NotIn", values: ["undefined"] }],
    [false, "x", { key: "tier", operator: "NotIn", values: ["front"] }],
    [true, "x", { key: "tier", operator: "Exists" }],
    [false, "x", { key: "zone", operator: "Exists" }],
    [true, "x", { key: "zone", operator: "DoesNotExist" }],
    [false, "x", { key: "tier", operator: "DoesNotExist" }],
  ] as const)
    assert.equal(
      selects({ matchLabels: { app }, ...expressions(expression) }, labels),
      matches,
      JSON.stringify(expression),
    );
});
