import assert from "node:assert/strict";
import { test } from "node:test";
import { ofTurn, seedsOfTurn } from "./seeds-of-turn.ts";

test("five turns of two files play seeds 1 to 300, each once", () => {
  const played = [0, 1, 2, 3, 4].flatMap((turn) =>
    [0, 1].flatMap((file) => {
      const { first, count } = seedsOfTurn(file, { TURN: String(turn) });
      return Array.from({ length: count }, (_, i) => first + i);
    }),
  );
  assert.deepEqual(
    played,
    Array.from({ length: 300 }, (_, i) => i + 1),
  );
  assert.deepEqual(seedsOfTurn(1, { TURN: "7" }), seedsOfTurn(1, { TURN: "2" }));
  assert.deepEqual(seedsOfTurn(0, {}), { first: 1, count: 30 });
});

test("five turns play each world of a row once, and all of them are played where every seed is", () => {
  const row = ["a", "b", "c", "d", "e", "f", "g"];
  const turns = [0, 1, 2, 3, 4].map((turn) => ofTurn(row, { TURN: String(turn) }));
  assert.deepEqual(turns, [["a", "f"], ["b", "g"], ["c"], ["d"], ["e"]]);
  assert.deepEqual(ofTurn(row, { TURN: "3", SEEDS: "300" }), row);
});
