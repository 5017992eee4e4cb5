/**
 * What one host boots to be installed by a profile: kernel, initrd, arguments, and the files that the installer fetches. Pure; the face of
 * the formats.
 */
import { Fault } from "@slipway/base";
import type { AgentBoot } from "../netboot/boot/machine.ts";
import { autoinstall, autoinstallArguments } from "./autoinstall/autoinstall.ts";
import { harvesterInstaller } from "./harvester/installer.ts";
import { harvesterJoinOf } from "./harvester-profile.ts";
import type { Installation } from "./installation/installation.ts";
import type { InstalledHost } from "./installed-host.ts";
import { kickstart, kickstartArguments } from "./kickstart/kickstart.ts";
import { preseed, preseedArguments } from "./preseed/preseed.ts";
import type { SystemProfile, WrittenProfile } from "./profile.ts";

/** Kernel and initrd as a loader starts them, and what the installer fetches then. */
export interface InstallerBoot extends AgentBoot {
  /** By the name that they have below the folder given. They hold password hashes and report URLs: for this host alone. */
  files: Readonly<Record<string, string>>;
}

/** `folder`: URL below which the host fetches the files, with its final slash. Throws `Fault` (`Invalid`) that names what can't be installed. */
export function installerBoot(profile: WrittenProfile, host: InstalledHost, folder: string): InstallerBoot {
  if (profile.installer === "harvester" && host.seedUrl !== undefined)
    throw new Fault(
      "Invalid",
      "spec.userData",
      "Harvester joins its own cluster by its profile, and takes no other data",
      {
        remedy: "install the machine by another profile",
      },
    );
  if (profile.installer === "harvester")
    return harvesterInstaller(harvesterJoinOf(profile, host), { architecture: host.architecture, folder });
  const installation = installationOf(profile, host);
  const { kernel, initrd, arguments: extra } = profile;
  const boot = (files: Readonly<Record<string, string>>, commandLine: readonly string[]): InstallerBoot => {
    return { kernel, initrd, commandLine, files };
  };
  switch (profile.installer) {
    case "preseed":
      return boot(
        { "preseed.cfg": preseed(installation) },
        preseedArguments(installation, `${folder}preseed.cfg`, extra),
      );
    case "kickstart":
      return boot(
        { "kickstart.cfg": kickstart(installation, profile.release) },
        kickstartArguments(installation, `${folder}kickstart.cfg`, extra),
      );
    case "autoinstall":
      return boot(
        { ...autoinstall(installation) },
        autoinstallArguments(installation, { configUrl: folder, iso: profile.iso }, extra),
      );
  }
}

/** Profile and host in one. Throws `Fault` (`Invalid`) for a host of another architecture. */
export function installationOf(profile: SystemProfile, host: InstalledHost): Installation {
  if (profile.architecture !== host.architecture)
    throw new Fault(
      "Invalid",
      profile.installer,
      `the profile is for ${profile.architecture}, the host is ${host.architecture}`,
      {
        remedy: "name a profile for the host's architecture",
      },
    );
  const { timezone, locale, keyboard, ntpServers, proxy, mirror, layout, swap, packages, commands, user } = profile;
  const { hostname, architecture, firmware, disk, network, report, seedUrl } = host;
  return {
    ...{ hostname, architecture, firmware, disk, network, user },
    ...{ timezone, locale, keyboard, ntpServers, layout, swap, packages, commands },
    ...(proxy === undefined ? {} : { proxy }),
    ...(mirror === undefined ? {} : { mirror }),
    ...(report === undefined ? {} : { report }),
    ...(seedUrl === undefined ? {} : { seedUrl }),
  };
}
