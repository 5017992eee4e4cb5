import assert from "node:assert/strict";
import { test } from "node:test";
import { circlesIn } from "./circles.ts";

const graph = (edges: Record<string, string[]>) => new Map(Object.entries(edges));

test("files that import each other are a circle, by however long a way; what only leads there is not in it", () => {
  const edges = { a: ["b"], b: ["c"], c: ["a", "d"], d: ["e"], e: ["d"], f: ["a"], g: [] };
  assert.deepEqual(circlesIn(graph(edges)), [
    ["d", "e"],
    ["a", "b", "c"],
  ]);
});

test("a file that imports itself is a circle; two ways to the same file are none", () => {
  assert.deepEqual(circlesIn(graph({ a: ["a"] })), [["a"]]);
  assert.deepEqual(circlesIn(graph({ a: ["b", "c"], b: ["d"], c: ["d"], d: [] })), []);
});

test("a target outside the graph is no part of it", () => {
  assert.deepEqual(circlesIn(graph({ a: ["elsewhere"] })), []);
});
