import assert from "node:assert/strict";
import { test } from "node:test";
import { ofTurn, seedsOfTurn } from "./seeds-of-turn.ts";

test("ten turns of two files play seeds 1 to 300, each once", () => {
  const played = Array.from({ length: 10 }, (_, turn) =>
    [0, 1].flatMap((file) => {
      const { first, count } = seedsOfTurn(file, { TURN: String(turn) });
      return Array.from({ length: count }, (_, i) => first + i);
    }),
  ).flat();
  assert.deepEqual(
    played,
    Array.from({ length: 300 }, (_, i) => i + 1),
  );
  assert.deepEqual(seedsOfTurn(1, { TURN: "12" }), seedsOfTurn(1, { TURN: "2" }));
  assert.deepEqual(seedsOfTurn(0, {}), { first: 1, count: 15 });
});

test("ten turns play each world of a row once, and all of them are played where every seed is", () => {
  const row = [..."abcdefghijkl"];
  const turns = Array.from({ length: 10 }, (_, turn) => ofTurn(row, { TURN: String(turn) }).join(""));
  assert.deepEqual(turns, ["ak", "bl", ..."cdefghij"]);
  assert.deepEqual(ofTurn(row, { TURN: "3", SEEDS: "300" }), row);
});
