import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type JsonMeasure, measureJson } from "./measure.ts";

test("values, keys and levels are counted whatever stands in texts", () => {
  assert.deepEqual(measureJson('{"a":[1,{"b":"}],:{"}],"c":{},"a":"\\\\"}'), { values: 6, keys: 4, depth: 3 });
  assert.deepEqual(measureJson(" [ [ ] , [ ] ] "), { values: 2, keys: 0, depth: 2 });
  assert.deepEqual(measureJson('"text"'), { values: 0, keys: 0, depth: 0 });
});

function counted(value: unknown): JsonMeasure {
  if (typeof value !== "object" || value === null) return { values: 0, keys: 0, depth: 0 };
  const inner = Object.values(value).map(counted);
  const own = { values: inner.length, keys: Array.isArray(value) ? 0 : inner.length, depth: 1 };
  return inner.reduce(
    (sum, { values, keys, depth }) => ({
      values: sum.values + values,
      keys: sum.keys + keys,
      depth: Math.max(sum.depth, depth + 1),
    }),
    own,
  );
}

test("the scan counts what a parser finds", () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(3), (text, indent) => {
      const value: unknown = JSON.parse(text);
      assert.deepEqual(measureJson(JSON.stringify(value, null, indent)), counted(value));
    }),
  );
});
