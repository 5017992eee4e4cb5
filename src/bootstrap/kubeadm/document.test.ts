import assert from "node:assert/strict";
import { test } from "node:test";
import { yamlDocument } from "./document.ts";

test("a configuration's keys are in order, and a long text stays on its line", () => {
  const text = "word ".repeat(40).trim();
  assert.equal(yamlDocument({ b: text, a: { d: 1, c: 2 } }), `a:\n  c: 2\n  d: 1\nb: ${text}\n`);
});
