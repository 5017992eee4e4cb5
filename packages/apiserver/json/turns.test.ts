import assert from "node:assert/strict";
import { test } from "node:test";
import { allPasses, Pace, type Passes, passesInTurns } from "./turns.ts";

function* three(seen: string[]): Passes<string> {
  for (const pass of ["a", "b", "c"]) {
    seen.push(pass);
    yield;
  }
  return "done";
}

test("between the passes of a long call others have their turn; those of a short one follow each other", async () => {
  for (const [isLong, order] of [
    [true, "a other b c"],
    [false, "a b c other"],
  ] as const) {
    const seen: string[] = [];
    const other = new Promise<void>((resolve) =>
      setImmediate(() => {
        seen.push("other");
        resolve();
      }),
    );
    assert.equal(await passesInTurns({ isLong }, three(seen)), "done");
    await other;
    assert.equal(seen.join(" "), order);
  }
  const seen: string[] = [];
  assert.equal(allPasses(three(seen)), "done");
  assert.deepEqual(seen, ["a", "b", "c"]);
});

test("a walk is interrupted every few thousand steps, and not before", () => {
  const pace = new Pace();
  const stops = Array.from({ length: 9000 }, (_, step) => (pace.isOver() ? [step] : [])).flat();
  assert.deepEqual(stops, [3999, 7999]);
  assert.deepEqual([pace.isOver(4000), pace.isOver(3999), pace.isOver(1)], [true, false, true]);
});
