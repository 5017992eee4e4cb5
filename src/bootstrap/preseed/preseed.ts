/**
 * What debian-installer reads (Debian, and Ubuntu up to 20.04): the preseed file, and the kernel arguments that lead to it. The network
 * is configured before the file is fetched, so its answers are kernel arguments. Pure: knows no clock, no network and no Kubernetes object.
 */
import { addressOf } from "../installation/addresses.ts";
import { checked, Installation, namesOf, refusal } from "../installation/installation.ts";
import { kernelArguments } from "../installation/kernel-arguments.ts";
import { type Answer, choice, no, preseedFile, text, yes } from "./answers.ts";
import { lateCommand } from "./late-command.ts";
import { partitions } from "./partitions.ts";

const SOURCE = "preseed";
/** A network may have a mirror or a proxy, and neither a way out nor name servers: the installer would ask. What DHCP does name is taken. */
const LEAST_FROM_DHCP = ["netcfg/no_default_route=true", "netcfg/get_nameservers="];

/** The preseed file. Throws `Fault` (`Invalid`) that names each field debian-installer can't be given. */
export function preseed(value: Installation): string {
  const installation = checked(Installation, value, SOURCE);
  const groups = installation.packages.flatMap((name, at) =>
    name.startsWith("@") ? [{ path: `packages.${at}`, message: "groups are for kickstart" }] : [],
  );
  if (groups.length > 0) throw refusal(SOURCE, groups);
  return preseedFile([
    ...language(installation),
    ...names(installation),
    ...mirror(installation),
    ...account(installation),
    ...time(installation),
    ...partitions(installation),
    ...software(installation),
    ...end(installation),
  ]);
}

/** The kernel's arguments: the card, its addresses, and where the preseed file is. `extra`: the user's own, which come last. */
export function preseedArguments(
  value: Installation,
  configUrl: string,
  extra: readonly string[] = [],
): readonly string[] {
  const { hostname, network } = checked(Installation, value, SOURCE);
  const { host, domain } = namesOf(hostname);
  return kernelArguments([
    "auto=true",
    "priority=critical",
    `url=${configUrl}`,
    `netcfg/choose_interface=${network.mac}`,
    `netcfg/hostname=${host}`,
    `netcfg/get_hostname=${host}`,
    // Without a domain the question would be asked; blank is an answer.
    `netcfg/get_domain=${domain}`,
    ...(network.method === "dhcp" ? LEAST_FROM_DHCP : fixedAddress(network)),
    ...extra,
  ]);
}

function fixedAddress(network: Extract<Installation["network"], { method: "static" }>): string[] {
  const { address, mask } = addressOf(network);
  return [
    "netcfg/disable_autoconfig=true",
    `netcfg/get_ipaddress=${address}`,
    `netcfg/get_netmask=${mask}`,
    `netcfg/get_gateway=${network.gateway ?? "none"}`,
    // One word; the late command writes all of them for the installed system.
    `netcfg/get_nameservers=${network.nameServers[0] ?? ""}`,
    "netcfg/confirm_static=true",
  ];
}

function language({ locale, keyboard }: Installation): Answer[] {
  return [
    text("debian-installer/locale", locale),
    choice("keyboard-configuration/xkb-keymap", keyboard.layout),
    text("keyboard-configuration/layoutcode", keyboard.layout),
    text("keyboard-configuration/variantcode", keyboard.variant ?? ""),
  ];
}

function names({ hostname }: Installation): Answer[] {
  const { host, domain } = namesOf(hostname);
  return [text("netcfg/hostname", host), text("netcfg/get_hostname", host), text("netcfg/get_domain", domain)];
}

function mirror({ mirror: url, proxy = "" }: Installation): Answer[] {
  const { protocol, host, pathname } = new URL(url ?? "http://deb.debian.org/debian");
  const scheme = protocol.slice(0, -1);
  return [
    choice("mirror/protocol", scheme),
    text("mirror/country", "manual"),
    text(`mirror/${scheme}/hostname`, host),
    text(`mirror/${scheme}/directory`, pathname.replace(/(?<=.)\/+$/, "")),
    text(`mirror/${scheme}/proxy`, proxy),
  ];
}

function account({ user }: Installation): Answer[] {
  return [
    no("passwd/root-login"),
    yes("passwd/make-user"),
    text("passwd/user-fullname", user.name),
    text("passwd/username", user.name),
    // `!` is a hash that no password has.
    { question: "passwd/user-password-crypted", type: "password", value: user.passwordHash ?? "!" },
  ];
}

function time({ timezone, ntpServers }: Installation): Answer[] {
  return [
    yes("clock-setup/utc"),
    text("time/zone", timezone),
    yes("clock-setup/ntp"),
    ...ntpServers.slice(0, 1).map((server) => text("clock-setup/ntp-server", server)),
  ];
}

function software({ packages, seedUrl }: Installation): Answer[] {
  return [
    { owner: "tasksel", question: "tasksel/first", type: "multiselect", value: "standard" },
    text(
      "pkgsel/include",
      [...new Set(["openssh-server", "sudo", ...(seedUrl === undefined ? [] : ["cloud-init"]), ...packages])].join(" "),
    ),
    { owner: "popularity-contest", question: "popularity-contest/participate", type: "boolean", value: false },
    no("apt-setup/cdrom/set-first"),
  ];
}

function end(installation: Installation): Answer[] {
  const { disk, firmware } = installation;
  return [
    yes("grub-installer/only_debian"),
    no("grub-installer/with_other_os"),
    text("grub-installer/bootdev", disk),
    // Also at the place where firmware and netboot's loaders look by themselves.
    ...(firmware === "uefi" ? [yes("grub-installer/force-efi-extra-removable")] : []),
    text("preseed/late_command", lateCommand(installation)),
    { question: "finish-install/reboot_in_progress", type: "note" },
  ];
}
