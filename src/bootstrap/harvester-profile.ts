import type { HarvesterJoin, InstallerWebhook, Management } from "./harvester/join.ts";
import { addressOf } from "./installation/addresses.ts";
import type { Network } from "./installation/installation.ts";
import type { InstalledHost } from "./installed-host.ts";
import type { Profile } from "./profile.ts";

type HarvesterProfile = Extract<Profile, { installer: "harvester" }>;

/** How one host installs Harvester and joins, by its profile. The installer's own rules are checked where the join is used (`assertJoin`). */
export function harvesterJoinOf(
  profile: HarvesterProfile,
  host: Pick<InstalledHost, "hostname" | "disk" | "network" | "report">,
): HarvesterJoin {
  const { isoUrl, version, architecture, artifactsUrl, serverUrl, token, passwordHash, tty, bondOptions } = profile;
  const { hostname, disk, network, report } = host;
  const nameServers =
    network.method === "static" ? [...network.nameServers, ...profile.nameServers] : profile.nameServers;
  return {
    ...{ isoUrl, serverUrl, token, hostname, tty, device: disk },
    ...{ role: profile.role, skipChecks: profile.skipChecks, wipeAllDisks: profile.wipeAllDisks },
    ...{ sshAuthorizedKeys: profile.sshKeys, ntpServers: profile.ntpServers, labels: profile.labels },
    dnsNameservers: [...new Set(nameServers)],
    management: {
      ...managementOf(network),
      ...(bondOptions === undefined ? {} : { bondOptions }),
    },
    ...(version === undefined ? {} : { version }),
    ...(architecture === undefined ? {} : { arch: architecture === "x86_64" ? "amd64" : "arm64" }),
    ...(artifactsUrl === undefined ? {} : { artifactsUrl }),
    ...(passwordHash === undefined ? {} : { password: passwordHash }),
    ...(report === undefined ? {} : { webhooks: webhooksOf(report) }),
  };
}

function webhooksOf({ succeeded, failed }: NonNullable<InstalledHost["report"]>): InstallerWebhook[] {
  const end: InstallerWebhook = { event: "SUCCEEDED", url: succeeded };
  return failed === undefined ? [end] : [end, { event: "FAILED", url: failed }];
}

function managementOf(network: Network): Management {
  const interfaces = [{ hwAddr: network.mac }];
  if (network.method === "dhcp") return { method: "dhcp", interfaces };
  const { address, mask } = addressOf(network);
  const { gateway } = network;
  return { method: "static", interfaces, ip: address, subnetMask: mask, ...(gateway === undefined ? {} : { gateway }) };
}
