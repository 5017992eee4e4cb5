import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Firmware } from "../hardware.ts";
import { SimRack } from "./rack.ts";

const NOTHING_STARTS: Firmware = {
  fromNetwork: () => assert.fail("it was started"),
  fromDisk: () => assert.fail("it was started"),
  wipe: () => {},
};

test("netboot that ends has written down when its hosts were seen last", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-rack-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const clock = new VirtualClock();
  const rack = new SimRack({ clock, random: seededRandom(1), firmware: NOTHING_STARTS, folder });
  const { mac } = rack.add("node-1");
  const netboot = rack.serve();
  netboot.hosts.seen({ mac });
  await clock.run(100);
  const { name, lastSeen } = netboot.hosts.seen({ mac })!;
  await netboot.close();
  assert.equal(rack.serve().hosts.get(name)?.lastSeen, lastSeen);
  await rack.close();
});

test("a server has one NVMe disk unless said, and each disk a name by its server's", async () => {
  const rack = new SimRack({ clock: new VirtualClock(), random: seededRandom(1), firmware: NOTHING_STARTS });
  const facts = (...[name, options]: Parameters<SimRack["add"]>) =>
    rack.add(name, options).disks.map((disk) => disk.facts);
  assert.deepEqual(facts("a"), [
    {
      ...{ name: "/dev/nvme0n1", bytes: 480e9, byId: ["a-nvme0n1"] },
      ...{ rotational: false, readOnly: false, logicalBlock: 512 },
    },
  ]);
  const disks = [
    { name: "/dev/sda", bytes: 1 },
    { name: "/dev/sdb", bytes: 2, byId: ["own"], rotational: true },
  ];
  assert.deepEqual(
    facts("b", { disks }).map(({ name, byId, rotational }) => [name, byId, rotational]),
    [
      ["/dev/sda", ["b-sda"], false],
      ["/dev/sdb", ["own"], true],
    ],
  );
  await rack.close();
});

test("a rack that is closed ends the netboot that it serves, which has written all down", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-rack-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const clock = new VirtualClock();
  const rackIn = () => new SimRack({ clock, random: seededRandom(1), firmware: NOTHING_STARTS, folder });
  const rack = rackIn();
  const { mac } = rack.add("node-1");
  const { hosts } = rack.serve();
  hosts.seen({ mac });
  await clock.run(100);
  const { name, lastSeen } = hosts.seen({ mac })!;
  await rack.close();
  const next = rackIn();
  assert.equal(next.serve().hosts.get(name)?.lastSeen, lastSeen);
  await next.close();
});
