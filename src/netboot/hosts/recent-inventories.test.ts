import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentInventories } from "./recent-inventories.ts";
import { inventoryOf } from "./testing.ts";

const MIB = 1024 * 1024;
const read = (textBytes: number) => ({ inventory: inventoryOf("52:54:00:00:00:0a"), textBytes });

test("4 MiB of inventories stay in memory, those that were asked for last; a larger one alone", () => {
  const recent = new RecentInventories();
  const known = () => ["a", "b", "c", "d"].filter((name) => recent.get(name) !== undefined);
  for (const name of ["a", "b", "c"]) recent.add(name, read(MIB));
  recent.add("d", read(MIB));
  assert.deepEqual([known(), recent.bytes], [["a", "b", "c", "d"], 4 * MIB]);
  recent.get("a");
  recent.add("e", read(1));
  assert.deepEqual([known(), recent.bytes], [["a", "c", "d"], 3 * MIB + 1]);
  assert.ok(recent.add("large", read(9 * MIB)) !== undefined);
  assert.deepEqual([known(), recent.bytes], [[], 9 * MIB]);
});

test("a newer inventory takes the place of the older one, and what was forgotten or can't be read takes none", () => {
  const recent = new RecentInventories();
  recent.add("a", read(10));
  const newer = read(20);
  assert.equal(recent.add("a", newer), newer.inventory);
  assert.deepEqual([recent.get("a"), recent.bytes], [newer.inventory, 20]);
  assert.equal(recent.add("a", undefined), undefined);
  recent.forget("b");
  assert.deepEqual([recent.get("a"), recent.bytes], [undefined, 0]);
});
