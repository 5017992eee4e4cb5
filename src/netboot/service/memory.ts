import { join } from "node:path";
import type { Clock, Log, Random } from "@slipway/base";
import { DiskBoots } from "../boot/disk-boots.ts";
import { openHostStore } from "../hosts/host-store.ts";
import { Hosts } from "../hosts/hosts.ts";
import { HostLogs } from "../logs/host-logs.ts";
import type { NetbootSettings } from "../settings.ts";
import { RecentIpxe } from "../solicitations/recent-ipxe.ts";
import type { TpmAuthorities } from "../tpm/authorities.ts";
import type { Parts } from "./parts.ts";
import type { NetbootPlace } from "./place.ts";

/** What is known of the machines. */
export interface Memory {
  hosts: Hosts;
  logs: HostLogs;
  disks: DiskBoots;
  recentIpxe: RecentIpxe;
}

interface MemoryPlace extends Pick<NetbootPlace, "dir" | "hasCluster"> {
  settings: Pick<NetbootSettings, "boot" | "trust">;
  /** Makers of TPMs that are believed. */
  authorities?: TpmAuthorities | undefined;
}

/** What was known when the folder was used last; hosts outlive the process, the rest does not. Throws when the folder can't be written. */
export function openMemory(
  { dir, settings, hasCluster = false, authorities }: MemoryPlace,
  { parts, clock, random, log }: { parts: Parts; clock: Clock; random: Random; log: Log },
): Memory {
  const { script, unknown } = settings.boot;
  const usualBoot = script === undefined ? unknown : { chain: script };
  const makers = authorities?.fingerprints;
  const store = openHostStore(join(dir, "hosts.db"), log);
  const hosts = parts.own(new Hosts({ store, clock, random, usualBoot, trust: settings.trust, hasCluster, makers }));
  if (hosts.unread > 0)
    log.error(
      { hosts: hosts.unread, remedy: "forget hosts that are gone" },
      "there is no room for all hosts of the file",
    );
  const logs = parts.own(new HostLogs({ hosts }));
  return { hosts, logs, disks: new DiskBoots(hosts), recentIpxe: new RecentIpxe(clock) };
}
