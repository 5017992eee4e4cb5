import assert from "node:assert/strict";
import { test } from "node:test";
import { slowest } from "./crowding.ts";

test("the slowest gives way, by what it moved in its time; who has just come is not judged", () => {
  const fresh = { since: 99_000, moved: 0 };
  const fast = { since: 0, moved: 1_000_000 };
  const trickling = { since: 0, moved: 1_000 };
  const short = { since: 90_000, moved: 900 };
  assert.equal(slowest([fresh, fast, trickling, short], 100_000), trickling);
  assert.equal(slowest([fresh, fast, short], 100_000), short);
  assert.equal(slowest([fresh], 100_000), undefined);
  assert.equal(slowest([], 100_000), undefined);
});
