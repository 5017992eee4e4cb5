import assert from "node:assert/strict";
import { test } from "node:test";
import { selectorText, selects } from "./label-selector.ts";

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
