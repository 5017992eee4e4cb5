import { join } from "node:path";
import type { Clock, Log, Random } from "@slipway/base";
import { DiskBoots } from "../boot/disk-boots.ts";
import { openHostStore } from "../hosts/host-store.ts";
import { Hosts } from "../hosts/hosts.ts";
import { HostLogs } from "../logs/host-logs.ts";
import type { NetbootSettings } from "../settings.ts";
import { RecentIpxe } from "../solicitations/recent-ipxe.ts";
import type { Parts } from "./parts.ts";

/** What is known of the machines. */
export interface Memory {
  hosts: Hosts;
  logs: HostLogs;
  disks: DiskBoots;
  recentIpxe: RecentIpxe;
}

/** What was known when the folder was used last; hosts outlive the process, the rest does not. Throws when the folder can't be written. */
export function openMemory(
  dir: string,
  { boot: { script, unknown }, trust }: Pick<NetbootSettings, "boot" | "trust">,
  { parts, clock, random, log }: { parts: Parts; clock: Clock; random: Random; log: Log },
): Memory {
  const usualBoot = script === undefined ? unknown : { chain: script };
  const store = openHostStore(join(dir, "hosts.db"), log);
  const hosts = parts.own(new Hosts({ store, clock, random, usualBoot, trust }));
  if (hosts.unread > 0)
    log.error(
      { hosts: hosts.unread, remedy: "forget hosts that are gone" },
      "there is no room for all hosts of the file",
    );
  const logs = parts.own(new HostLogs({ hosts }));
  return { hosts, logs, disks: new DiskBoots(hosts), recentIpxe: new RecentIpxe(clock) };
}
