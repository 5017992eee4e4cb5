/**
 * What Ubuntu's installer subiquity reads (Ubuntu Server 20.04.2 and later): user data with `autoinstall`, served beside empty metadata,
 * and the kernel arguments that lead to them. Pure: knows no clock, no network and no Kubernetes object.
 */
import { addressOf } from "../installation/addresses.ts";
import { cloudConfig } from "../installation/cloud-config.ts";
import { checked, Installation, type Problem, refusal } from "../installation/installation.ts";
import { bootInterface, kernelArguments } from "../installation/kernel-arguments.ts";
import { netplan } from "../installation/netplan.ts";
import { SEED_FILE, seedSettings } from "../installation/seed.ts";
import { reportCommand, shellCommand, shellWord } from "../installation/shell.ts";

const SOURCE = "autoinstall";
/** Stands for the disk's kernel name, which subiquity compares and only the machine knows. */
const DISK = "/dev/slipway-disk";

/** The files that cloud-init in the installer fetches below one URL (datasource NoCloud). */
export interface AutoinstallFiles {
  "user-data": string;
  "meta-data": string;
}

/** The installer's files. Throws `Fault` (`Invalid`) that names each field subiquity can't be given. */
export function autoinstall(value: Installation): AutoinstallFiles {
  const installation = checked(Installation, value, SOURCE);
  const problems = problemsOf(installation);
  if (problems.length > 0) throw refusal(SOURCE, problems);
  const { user, locale, keyboard, timezone, network, proxy, hostname, ntpServers, packages } = installation;
  const config = {
    version: 1,
    "early-commands": findDisk(installation.disk),
    locale,
    keyboard,
    // Installers before 24.04 take the time zones of zone1970.tab, and UTC by this name.
    timezone: timezone === "Etc/UTC" ? "UTC" : timezone,
    network: netplan(network, { rename: false }),
    proxy,
    apt: aptOf(installation),
    storage: storageOf(installation),
    // `!` is a hash that no password has.
    identity: { hostname, username: user.name, password: user.passwordHash ?? "!" },
    ssh: {
      "install-server": true,
      "authorized-keys": user.sshKeys,
      "allow-pw": user.passwordHash !== undefined,
    },
    packages: packages.length === 0 ? undefined : packages,
    "user-data": ntpServers.length === 0 ? undefined : { ntp: { enabled: true, servers: ntpServers } },
    "late-commands": lateCommands(installation),
    "error-commands":
      installation.report?.failed === undefined ? undefined : [reportCommand(installation.report.failed)],
    shutdown: "reboot",
  };
  return { "user-data": cloudConfig({ autoinstall: config }), "meta-data": "" };
}

export interface AutoinstallBoot {
  /** Folder of `user-data` and `meta-data`, with its final slash. */
  configUrl: string;
  /** The ISO image that the installer's kernel and initrd are from; it is loaded into memory. */
  iso: string;
}

/** The kernel's arguments: the card, its addresses, the installer's root, and where its files are. `extra`: the user's own, which come last. */
export function autoinstallArguments(
  value: Installation,
  { configUrl, iso }: AutoinstallBoot,
  extra: readonly string[] = [],
): readonly string[] {
  const { network, hostname } = checked(Installation, value, SOURCE);
  return kernelArguments([
    "autoinstall",
    `ds=nocloud;s=${configUrl}`,
    `url=${iso}`,
    bootInterface(network.mac),
    addresses(),
    // Otherwise cloud-init in the installer takes `url=` for a configuration of its own.
    "cloud-config-url=/dev/null",
    ...extra,
  ]);

  function addresses(): string {
    if (network.method === "dhcp") return "ip=dhcp";
    const { address, mask } = addressOf(network);
    const { gateway = "", nameServers } = network;
    return [`ip=${address}`, "", gateway, mask, hostname, "", "off", nameServers[0] ?? ""].join(":");
  }
}

function problemsOf({ packages }: Installation): Problem[] {
  return packages.flatMap((name, at) =>
    name.startsWith("@") ? [{ path: `packages.${at}`, message: "groups are for kickstart" }] : [],
  );
}

/** subiquity reads the file again after these. Without the disk the installation fails before anything is written. */
function findDisk(disk: string): string[] {
  const file = "/autoinstall.yaml";
  return [
    "udevadm settle",
    shellCommand("test", "-b", disk),
    `sed -i "s|${DISK}|$(readlink -f ${shellWord(disk)})|" ${file}`,
  ];
}

function aptOf({ mirror, architecture }: Installation): object | undefined {
  if (mirror === undefined) return undefined;
  const arches = [architecture === "x86_64" ? "amd64" : "arm64"];
  // Without `mirror-selection`, which installers before 2023 don't know.
  return { primary: [{ arches, uri: mirror }], fallback: "abort", geoip: false };
}

function storageOf({ layout, swap }: Installation): object {
  const match = { path: DISK };
  return {
    layout: layout === "lvm" ? { name: "lvm", "sizing-policy": "all", match } : { name: "direct", match },
    swap: { size: swap === "none" ? 0 : `${swap.mebibytes}M` },
  };
}

/** Lists, which are run without a shell. The first that fails ends the installation. */
function lateCommands({ user, commands, report, seedUrl }: Installation): (string | string[])[] {
  const sudoers = `/etc/sudoers.d/${user.name}`;
  const inTarget = (...words: string[]): string[] => ["curtin", "in-target", "--", ...words];
  return [
    inTarget("sh", "-c", `${shellCommand("printf", "%s\\n", `${user.name} ALL=(ALL) NOPASSWD:ALL`)} > ${sudoers}`),
    inTarget("chmod", "0440", sudoers),
    ...(seedUrl === undefined ? [] : firstBoot(seedUrl).map((command) => inTarget("sh", "-c", command))),
    ...commands.map((command) => inTarget("sh", "-c", command)),
    ...(report === undefined ? [] : [reportCommand(report.succeeded)]),
  ];
}

/** What subiquity leaves to cloud-init as user data, account and keys among them, becomes settings of cloud-init: user data are those at the address. */
function firstBoot(seedUrl: string): string[] {
  const folder = SEED_FILE.slice(0, SEED_FILE.lastIndexOf("/"));
  const [theirs, settings] = [`${folder}/99-installer.cfg`, `${folder}/98-slipway-system.cfg`];
  const toSettings = `import yaml; print(yaml.safe_load(open("${theirs}"))["datasource"]["None"]["userdata_raw"])`;
  return [
    `umask 077 && ${shellCommand("python3", "-c", toSettings)} > ${settings} && rm ${theirs}`,
    `umask 077 && ${shellCommand("printf", "%s\\n", ...seedSettings(seedUrl, { users: "of cloud-init" }))} > ${SEED_FILE}`,
  ];
}
