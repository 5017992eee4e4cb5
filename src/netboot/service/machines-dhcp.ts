import { asFault, type Log } from "@slipway/base";
import type { BootFiles } from "../dhcp/boot.ts";
import type { DhcpListener } from "../dhcp/event.ts";
import { answerSolicitations } from "../solicitations/responder.ts";
import { type DhcpPart, openDhcp } from "./dhcp-part.ts";
import { hearing } from "./hearing.ts";
import type { Memory } from "./memory.ts";
import { warningOfNoAddress } from "./no-address.ts";
import { warningOfOthers } from "./other-servers.ts";
import type { Parts } from "./parts.ts";
import type { NetbootPlace, NetbootPorts } from "./place.ts";
import type { ReachedAt } from "./reached-at.ts";

export interface DhcpPorts extends NetbootPorts {
  parts: Parts;
  reached: ReachedAt;
  memory: Memory;
  files: BootFiles;
}

/** DHCP that remembers whom it saw, as yet without a socket; undefined: none is wanted. Rejects as `openDhcp` does. */
export async function openMachinesDhcp(
  { settings, dir, inherited, leases }: NetbootPlace,
  { parts, reached, memory, files, clock, log }: DhcpPorts,
): Promise<DhcpPart | undefined> {
  if (settings.dhcp.mode === "off") return undefined;
  const { hosts, logs, disks, recentIpxe } = memory;
  const { byArchitecture, uefiDiscovery } = settings.boot;
  const hear = hearing({ hosts, note: (mac, line) => logs.append(mac, "dhcp", line, clock.now()) });
  // Who gives reserved addresses alone means to leave the others to another server.
  const warnOfOthers: DhcpListener = settings.dhcp.mode === "pool" ? warningOfOthers({ clock, log }) : () => {};
  const warnOfNoAddress = warningOfNoAddress({ clock, log });
  return parts.own(
    await openDhcp({
      settings: settings.dhcp,
      boot: { ...files, uefiDiscovery, ...(byArchitecture !== undefined && { byArchitecture }) },
      on: reached.on,
      dir,
      ownBoot: (client) => disks.ownBoot(client, reached.url),
      notify(event) {
        recentIpxe.notify(event);
        hear(event);
        warnOfOthers(event);
        warnOfNoAddress(event);
      },
      clock,
      log,
      ...(inherited !== undefined && { inherited }),
      ...(leases !== undefined && { copy: leases }),
    }),
  );
}

/** Answers machines in iPXE that DHCP has just seen that no IPv6 router is to be waited for. Where that can't be, they boot all the same. */
export async function spareIpxeItsWait(
  device: string,
  { memory: { recentIpxe }, parts, log }: { memory: Pick<Memory, "recentIpxe">; parts: Parts; log: Log },
): Promise<void> {
  try {
    parts.own(await answerSolicitations({ device, answers: (mac) => recentIpxe.has(mac), log }));
  } catch (error) {
    const reason = asFault(error, device).advice;
    log.warn({ reason }, "machines in iPXE will wait fifteen seconds for IPv6 routers");
  }
}
