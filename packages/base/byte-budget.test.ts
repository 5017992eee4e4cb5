import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteBudget } from "./byte-budget.ts";

test("neither one owner nor all together hold more bytes than they may", () => {
  const budget = new ByteBudget({ all: 10, each: 4 });
  assert.deepEqual(
    [budget.take("a", 4), budget.take("a", 1), budget.take("b", 4), budget.take("c", 3)],
    [true, false, true, false],
  );
  assert.equal(budget.held, 8);
});

test("what was given back can be had again", () => {
  const budget = new ByteBudget({ all: 10, each: 4 });
  budget.take("a", 4);
  budget.give("a", 4);
  assert.deepEqual([budget.held, budget.take("a", 4)], [0, true]);
});

test("an unbounded owner is bound by the whole alone", () => {
  const budget = new ByteBudget({ all: 10, each: 4 });
  assert.deepEqual([budget.take("a", 9, true), budget.take("a", 2, true)], [true, false]);
});
