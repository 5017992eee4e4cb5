import { type Clock, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Inventory } from "../protocol/messages.ts";
import type { HostChange } from "./host.ts";
import { openHostStore } from "./host-store.ts";
import { Hosts, type HostsOptions } from "./hosts.ts";
import { type Presences, plainAddress } from "./presence.ts";

/** A key as agents make it, of no machine. */
export const AGENT_IDENTITY = "AGE-SECRET-KEY-1CEGXXZ434RGG6QTDMFJGXLDN3SQF452UCYPSS3RTN7QP56M3T8WSHJCV7A";
/** Its public half. */
export const AGENT_KEY_TEXT = "age1a8w9e02ds64kdne8kf86h2r7s3t8h0xu5qrjlldvcjscaw0l34cq2a3md7";

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
    agent: { version: "1", kernel: "6.1", uptimeSeconds: 9, key: AGENT_KEY_TEXT },
  };
}

/** Hosts in a file (in memory by default), with tokens that are the same in every run. */
export function someHosts(clock: Clock, options: Partial<HostsOptions> & { file?: string } = {}): Hosts {
  const { file = ":memory:", ...rest } = options;
  return new Hosts({ store: openHostStore(file), clock, random: seededRandom(1), ...rest });
}

/** Machines that are proven to be where the table says, by address; nobody is anywhere else. */
export function machinesAt(table: Readonly<Record<string, string>>): Presences {
  return {
    of(sourceAddress) {
      const address = plainAddress(sourceAddress);
      const mac = table[address];
      if (mac === undefined) return { is: "refused", address, because: "it has no lease" };
      return { is: "proven", mac, address };
    },
  };
}

/** `someHosts` on a clock of their own, and the changes that they report. */
export function hostsAndNews(options: Parameters<typeof someHosts>[1] = {}) {
  const clock = new VirtualClock();
  const hosts = someHosts(clock, options);
  const news: HostChange[] = [];
  hosts.onChange((change) => news.push(change));
  return { clock, hosts, news };
}
