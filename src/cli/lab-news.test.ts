import assert from "node:assert/strict";
import { test } from "node:test";
import { planMachines } from "../lab/rack.ts";
import type { Host } from "../netboot/hosts/host.ts";
import { inventoryOf } from "../netboot/hosts/testing.ts";
import { labNews, newsLine, secondsOf } from "./lab-news.ts";

const SEEN_HOST: Host = {
  name: "host-52-54-00-77-00-02",
  mac: "52:54:00:77:00:02",
  macs: ["52:54:00:77:00:02"],
  firstSeen: 1,
  lastSeen: 1,
  firmware: "uefi",
  boot: "agent",
} as Host;

test("each thing that becomes of a machine is reported once, by the machine's name in the lab", () => {
  const lines: string[] = [];
  const hear = labNews(planMachines(2, ["bios", "uefi"], { memoryMiB: 512, diskBytes: 1 }), (line) => lines.push(line));
  const inventory = inventoryOf(SEEN_HOST.mac);
  const registered: Host = { ...SEEN_HOST, address: "10.77.0.50", inventoryAt: 4, inventory };
  const { inventory: _, ...unreported } = registered;
  const order = { is: { id: "1", order: "reboot" } as const, givenAt: 3 };
  for (const host of [
    SEEN_HOST,
    { ...SEEN_HOST, lastSeen: 2 },
    { ...SEEN_HOST, address: "10.77.0.50" },
    registered,
    registered,
    { ...registered, order },
    { ...registered, order: { ...order, result: { ok: true, message: "reboot follows" } } },
    { ...unreported, inventoryAt: 9 },
  ])
    hear({ is: "changed", host });
  assert.deepEqual(lines, [
    "lab-2  is seen: uefi",
    "lab-2  has 10.77.0.50",
    "lab-2  has registered as host-52-54-00-77-00-02: 2 CPU, 2.0 GiB of memory, /dev/sda of 4.0 GiB",
    "lab-2  is to reboot",
    "lab-2  reboot: reboot follows",
    "lab-2  has registered as host-52-54-00-77-00-02: nothing reported",
  ]);
});

test("of a machine that is not the lab's nothing is reported", () => {
  const hear = labNews([], () => assert.fail("shown"));
  hear({ is: "changed", host: SEEN_HOST });
  hear({ is: "gone", name: SEEN_HOST.name });
});

test("lines of the lab's first day stand below each other", () => {
  const lines = [40, 12_345, 86_400_000].map((ms) => newsLine(secondsOf(ms), "lab-1  has 10.77.0.50"));
  assert.deepEqual(lines, [
    "    0.0 s  lab-1  has 10.77.0.50",
    "   12.3 s  lab-1  has 10.77.0.50",
    "86400.0 s  lab-1  has 10.77.0.50",
  ]);
});
