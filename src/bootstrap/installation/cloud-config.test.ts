import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { load } from "js-yaml";
import { cloudConfig, yaml } from "./cloud-config.ts";

test("every text stands in double quotes, whatever YAML 1.1 would make of it", () => {
  for (const text of ["no", "on", "1e3", "0x1f", "52:54:00:12:34:56", "~", "", "2026-01-01", "=", "<<"])
    assert.equal(yaml({ a: text }), `a: "${text}"\n`);
});

test("what is undefined is left out, and the first line is the one that cloud-init looks for", () => {
  assert.equal(cloudConfig({ a: undefined, b: { c: undefined, d: 1 } }), "#cloud-config\nb:\n  d: 1\n");
});

test("what is written is read back", () => {
  const value = fc.dictionary(
    fc.string({ unit: fc.constantFrom(..."abc-_".split("")), minLength: 1 }),
    fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.integer(),
      fc.boolean(),
      fc.array(fc.string({ unit: "binary-ascii" })),
    ),
  );
  fc.assert(fc.property(value, (written) => assert.deepEqual(load(yaml(written)) ?? {}, { ...written })));
});
