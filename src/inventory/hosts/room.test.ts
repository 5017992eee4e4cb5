import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Room } from "./room.ts";

test("never more have a place than there is room for, and who has one keeps it until it leaves", () => {
  const steps = fc.array(fc.tuple(fc.constantFrom("take", "leave"), fc.constantFrom("a", "b", "c", "d", "e")));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), steps, (most, all) => {
      const room = new Room(most);
      const holders = new Set<string>();
      for (const [what, key] of all) {
        if (what === "leave") holders.delete(key);
        else if (holders.size < most) holders.add(key);
        room[what](key);
        for (const each of ["a", "b", "c", "d", "e"])
          assert.equal(room.hasFor(each), holders.has(each) || holders.size < most);
      }
    }),
  );
});
