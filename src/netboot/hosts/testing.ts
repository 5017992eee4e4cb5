import type { Clock } from "../../base/clock.ts";
import { seededRandom } from "../../base/random.ts";
import type { Inventory } from "../agent/protocol.ts";
import { openHostStore } from "./host-store.ts";
import { Hosts, type HostsOptions } from "./hosts.ts";

/** The report of a machine with these cards, that came up by the first. */
export function inventoryOf(...macs: readonly [string, ...string[]]): Inventory {
  return {
    bootMac: macs[0],
    architecture: "x86_64",
    firmware: { kind: "uefi" },
    system: { manufacturer: "QEMU", product: "Standard PC" },
    cpu: { model: "EPYC", count: 2, flags: ["lm"] },
    memoryBytes: 2 ** 31,
    disks: [
      { name: "/dev/sda", byId: ["ata-1"], bytes: 2 ** 32, rotational: false, readOnly: false, logicalBlock: 512 },
    ],
    cards: macs.map((mac, at) => ({ name: `eth${at}`, mac, link: at === 0, addresses: [] })),
    agent: { version: "1", kernel: "6.1", uptimeSeconds: 9 },
  };
}

/** Hosts in a file (in memory unless told otherwise), with tokens that are the same in every run. */
export function someHosts(clock: Clock, options: Partial<HostsOptions> & { file?: string } = {}): Hosts {
  const { file = ":memory:", ...rest } = options;
  return new Hosts({ store: openHostStore(file), clock, random: seededRandom(1), ...rest });
}
