import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { apiReference } from "./api-reference.ts";
import { defineKind, type Kind } from "./kind.ts";

const Ship = defineKind({
  group: "sea.example.org",
  version: "v1",
  kind: "Ship",
  plural: "ships",
  shortNames: ["sp"],
  namespaced: true,
  description: "Something that sails.",
  spec: z.object({
    length: z.number().min(1).max(400).describe("In metres | yards."),
    depth: z.number().gt(0).lt(9).optional(),
    flag: z.enum(["red", "blue"]).default("red"),
    name: z
      .string()
      .min(2)
      .max(20)
      .regex(/^[a-z]+$/),
    crew: z
      .array(z.object({ rank: z.string() }))
      .min(1)
      .max(3)
      .optional(),
    holds: z.record(z.string(), z.int()).optional(),
    port: z.union([z.int(), z.string()]).optional(),
  }),
  columns: [
    { name: "Flag", type: "string", jsonPath: ".spec.flag" },
    { name: "Name", type: "string", jsonPath: ".spec.name", priority: 1 },
  ],
  rules: [{ path: "spec", rule: "self.length > self.depth", message: "a ship is longer than deep" }],
}) as unknown as Kind;

test("every field is a row with its type and limits, what is inside of it too", () => {
  const rows = apiReference([Ship])
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  assert.deepEqual(rows, [
    "| `spec.length` | number | required; at least 1; at most 400 | In metres \\| yards. |",
    "| `spec.depth` | number | above 0; below 9 |  |",
    '| `spec.flag` | string | default `"red"`; one of `red`, `blue` |  |',
    "| `spec.name` | string | required; at least 2 characters; at most 20 characters; matches `^[a-z]+$` |  |",
    "| `spec.crew` | list of object | at least 1 items; at most 3 items |  |",
    "| `spec.crew[].rank` | string | required |  |",
    "| `spec.holds` | map of integer |  |  |",
    "| `spec.port` | integer or string |  |  |",
  ]);
});

test("a kind has a section that is linked to, its names, columns and rules", () => {
  const text = apiReference([Ship]);
  assert.match(text, /^- \[Ship \(sea\.example\.org\/v1\)\]\(#ship-seaexampleorgv1\)$/m);
  assert.match(text, /^In a namespace\. Names for kubectl: `ships`, `ship`, `sp`\.$/m);
  assert.match(text, /^Columns of `kubectl get`: Flag, Name \(wide\)\.$/m);
  assert.match(text, /^- a ship is longer than deep \(`spec`\)$/m);
  assert.doesNotMatch(text, /### status/);
});
