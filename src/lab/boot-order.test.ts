import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type BootDevice, bootChanges, bootIndexes } from "./boot-order.ts";

const DISK = { file: "/lab/disk.img", bus: "virtio", serial: "S" } as const;

test("a change of what is first goes by no moment at which two devices have one place", () => {
  const device = fc.constantFrom<BootDevice | undefined>("network", "disk", "cd", undefined);
  const disks = fc.array(fc.constant(DISK), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(device, device, disks, (from, to, disks) => {
      const now = bootIndexes({ disks }, from);
      for (const [id, index] of bootChanges({ disks }, from, to)) {
        now[id] = index;
        const places = Object.values(now).filter((each) => each >= 0);
        assert.equal(new Set(places).size, places.length);
      }
      assert.deepEqual(now, bootIndexes({ disks }, to));
    }),
  );
});

test("by itself a machine boots from the network, then from its disks, and never from a CD", () => {
  assert.deepEqual(bootIndexes({ disks: [DISK, DISK] }), {
    card0: 10,
    "disk0-device": 20,
    "disk1-device": 21,
    cd0: -1,
  });
});
