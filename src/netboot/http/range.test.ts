import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { wanted } from "./range.ts";

test("N24 a range names bytes from front or back, both ends included", () => {
  assert.deepEqual(wanted("bytes=0-0", 10), { is: "part", first: 0, last: 0 });
  assert.deepEqual(wanted("bytes=4-", 10), { is: "part", first: 4, last: 9 });
  assert.deepEqual(wanted("bytes=-3", 10), { is: "part", first: 7, last: 9 });
  assert.deepEqual(wanted("bytes=5-99", 10), { is: "part", first: 5, last: 9 });
  assert.deepEqual(wanted("bytes=-99", 10), { is: "part", first: 0, last: 9 });
});

test("N24 a range after the end is reported; several, other units and nonsense get the whole", () => {
  for (const range of ["bytes=10-", "bytes=10-20", "bytes=-0"]) assert.equal(wanted(range, 10).is, "beyond", range);
  for (const range of [undefined, "", "bytes=-", "bytes=5-2", "bytes=0-1,3-4", "lines=1-2", "bytes=a-b"])
    assert.equal(wanted(range, 10).is, "whole", range);
});

test("whatever is asked, a part lies inside the file", () => {
  const range = fc.oneof(
    fc.tuple(fc.nat(50), fc.nat(50)).map(([a, b]) => `bytes=${a}-${b}`),
    fc.string(),
  );
  fc.assert(
    fc.property(range, fc.nat(40), (text, size) => {
      const part = wanted(text, size);
      if (part.is === "part") assert.ok(0 <= part.first && part.first <= part.last && part.last < size);
    }),
  );
});
