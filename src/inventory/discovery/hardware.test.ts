import assert from "node:assert/strict";
import { test } from "node:test";
import type { Inventory } from "../../netboot/protocol/messages.ts";
import { hardwareOf } from "./hardware.ts";
import { INVENTORY, MAC } from "./testing.ts";

const [DISK, CARD] = [INVENTORY.disks[0]!, INVENTORY.cards[0]!];
const of = (more: Partial<Inventory>) => hardwareOf({ ...INVENTORY, ...more });

test("what the agent found is in Metal3's words, and what is not known is absent", () => {
  assert.deepEqual(hardwareOf(INVENTORY), {
    systemVendor: { manufacturer: "QEMU", productName: "Standard PC", serialNumber: "42" },
    firmware: { bios: { vendor: "EDK II", version: "2022.11" } },
    ramMebibytes: 2048,
    nics: [{ name: "eth0", mac: MAC, ip: "10.0.0.9", speedGbps: 10, pxe: true }],
    storage: [
      {
        ...{ name: "/dev/disk/by-id/nvme-X_1", alternateNames: ["/dev/nvme0n1"], rotational: false, type: "NVME" },
        sizeBytes: 10e9,
      },
    ],
    cpu: { arch: "x86_64", model: "EPYC", clockMegahertz: 2400, flags: ["sse4_2"], count: 4 },
  });
});

test("memory and a card's speed are whole units, rounded down; a card may have no address and no speed", () => {
  assert.equal(of({ memoryBytes: 2 ** 21 - 1 }).ramMebibytes, 1);
  const { speedMbps: _, ...slow } = { ...CARD, mac: "52:54:00:00:00:99", addresses: [] };
  assert.deepEqual(of({ cards: [slow, { ...CARD, speedMbps: 999 }] }).nics, [
    { name: "eth0", mac: "52:54:00:00:00:99", pxe: false },
    { name: "eth0", mac: MAC, ip: "10.0.0.9", speedGbps: 0, pxe: true },
  ]);
});

test("a disk has its stablest name first: by id, by path, then the kernel's", () => {
  const names = (more: object) => {
    const [{ name, alternateNames }] = of({ disks: [{ ...DISK, ...more }] }).storage as [
      { name: string; alternateNames: string[] },
    ];
    return [name, ...alternateNames];
  };
  assert.deepEqual(names({ byId: ["a", "b"], byPath: "p" }), [
    ...["/dev/disk/by-id/a", "/dev/disk/by-id/b", "/dev/disk/by-path/p", "/dev/nvme0n1"],
  ]);
  assert.deepEqual(names({ byId: [] }), ["/dev/nvme0n1"]);
});

test("a disk's kind follows from how it is attached, its name, or whether it turns", () => {
  const type = (more: object) => of({ disks: [{ ...DISK, name: "/dev/sda", ...more }] }).storage?.[0]?.type;
  assert.deepEqual(
    [
      type({ transport: "nvme" }),
      type({ name: "/dev/nvme1n1", rotational: true }),
      type({}),
      type({ rotational: true }),
    ],
    ["NVME", "NVME", "SSD", "HDD"],
  );
});
