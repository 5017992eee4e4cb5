import type { HardwareDetails } from "../../kinds/metal3/hardware.ts";
import type { Disk, Inventory, NetworkCard } from "../../netboot/protocol/messages.ts";

/** What the agent found, in Metal3's words. Pure; what is not known is absent. */
export function hardwareOf(inventory: Inventory): HardwareDetails {
  const { system, firmware, cpu } = inventory;
  return {
    systemVendor: present({
      manufacturer: system.manufacturer,
      productName: system.product,
      serialNumber: system.serial,
    }),
    firmware: { bios: present({ date: firmware.date, vendor: firmware.vendor, version: firmware.version }) },
    ramMebibytes: Math.floor(inventory.memoryBytes / 2 ** 20),
    nics: inventory.cards.map((card) => cardOf(card, inventory.bootMac)),
    storage: inventory.disks.map(diskOf),
    cpu: present({
      arch: inventory.architecture,
      model: cpu.model,
      clockMegahertz: cpu.clockMhz,
      flags: cpu.flags,
      count: cpu.count,
    }),
  };
}

function cardOf(card: NetworkCard, bootMac: string): NonNullable<HardwareDetails["nics"]>[number] {
  return present({
    name: card.name,
    model: card.model,
    mac: card.mac,
    ip: card.addresses[0]?.split("/")[0],
    // Below a gigabit a second Metal3 has no number for it.
    speedGbps: card.speedMbps === undefined ? undefined : Math.floor(card.speedMbps / 1000),
    pxe: card.mac === bootMac,
  });
}

function diskOf(disk: Disk): NonNullable<HardwareDetails["storage"]>[number] {
  const stable = disk.byId.map((name) => `/dev/disk/by-id/${name}`);
  const byPath = disk.byPath === undefined ? [] : [`/dev/disk/by-path/${disk.byPath}`];
  const [name, ...alternateNames] = [...stable, ...byPath, disk.name];
  return present({
    name,
    alternateNames,
    rotational: disk.rotational,
    type: typeOf(disk),
    sizeBytes: disk.bytes,
    vendor: disk.vendor,
    model: disk.model,
    serialNumber: disk.serial,
    wwn: disk.wwn,
    hctl: disk.hctl,
  });
}

function typeOf({ name, transport, rotational }: Disk): "HDD" | "SSD" | "NVME" {
  if (transport === "nvme" || name.startsWith("/dev/nvme")) return "NVME";
  return rotational ? "HDD" : "SSD";
}

/** The same without what is undefined: the API's objects have a field or have it not. */
function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
