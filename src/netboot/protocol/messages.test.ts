import assert from "node:assert/strict";
import { test } from "node:test";
import { Inventory } from "./messages.ts";

test("an inventory names from one to 64 cards, and up to 256 disks", () => {
  const { cards, disks } = Inventory.shape;
  const card = { name: "eth0", mac: "52:54:00:00:00:01", link: true, addresses: [] };
  const disk = { name: "/dev/sda", byId: [], bytes: 1, rotational: false, readOnly: false, logicalBlock: 512 };
  const takes = (list: typeof cards | typeof disks, one: object, count: number): boolean =>
    list.safeParse(Array(count).fill(one)).success;
  assert.deepEqual(
    [0, 1, 64, 65].map((count) => takes(cards, card, count)),
    [false, true, true, false],
  );
  assert.deepEqual(
    [0, 256, 257].map((count) => takes(disks, disk, count)),
    [true, true, false],
  );
});
