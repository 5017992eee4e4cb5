import assert from "node:assert/strict";
import { test } from "node:test";
import { neighbours, parseArp } from "./neighbours.ts";

test("the kernel's neighbours are those on Ethernet whose hardware address is known, of one device where one is named", () => {
  const table = `IP address       HW type     Flags       HW address            Mask     Device
10.0.0.7         0x1         0x2         52:54:00:AB:00:07     *        eth1
10.0.0.7         0x1         0x2         52:54:00:AB:00:77     *        eth2
10.0.0.8         0x1         0x0         00:00:00:00:00:00     *        eth1
10.0.0.9         0x1         0x6         52:54:00:ab:00:09     *        eth1
10.0.0.11        0x1         0x2         00:00:00:00:00:00     *        eth1
10.0.0.10        0x20        0x2         80:00:00:48:fe:80     *        ib0
`;
  assert.deepEqual(
    [...parseArp(table, "eth1")],
    [
      ["10.0.0.7", "52:54:00:ab:00:07"],
      ["10.0.0.9", "52:54:00:ab:00:09"],
    ],
  );
  assert.equal(parseArp(table).get("10.0.0.7"), "52:54:00:ab:00:77");
});

test("where the kernel shows of no neighbours there are none", () => {
  assert.equal(neighbours(undefined, "/nonexistent").size, 0);
});
