/**
 * What Anaconda reads (Red Hat Enterprise Linux 8 to 10 and what is built from it): the kickstart file, and the kernel arguments that
 * lead to it. Pure: knows no clock, no network and no Kubernetes object.
 */
import { addressOf } from "../installation/addresses.ts";
import { checked, Installation, type Problem, refusal } from "../installation/installation.ts";
import { kernelArguments } from "../installation/kernel-arguments.ts";
import { SEED_FILE, seedSettings } from "../installation/seed.ts";
import { reportCommand, shellCommand, shellWord } from "../installation/shell.ts";
import { type Command, kickstartFile, type Section } from "./lines.ts";
import { partitions } from "./partitions.ts";

/** Major release of the family: the commands differ. */
export type Release = 8 | 9 | 10;

const SOURCE = "kickstart";
/** The card's name in the installer and in the installed system: kernel arguments name cards by name only. */
const CARD = "lan0";

/** The kickstart file. Throws `Fault` (`Invalid`) that names each field Anaconda can't be given. */
export function kickstart(value: Installation, release: Release): string {
  const installation = checked(Installation, value, SOURCE);
  const problems = problemsOf(installation);
  if (problems.length > 0) throw refusal(SOURCE, problems);
  return kickstartFile(
    [
      { command: "text" },
      { command: "reboot" },
      ...source(installation),
      ...language(installation),
      ...time(installation, release),
      network(installation),
      ...account(installation),
      ...partitions(installation),
    ],
    sections(installation),
  );
}

/** The kernel's arguments: the card, its addresses, and where the kickstart file is. `extra`: the user's own, which come last. */
export function kickstartArguments(
  value: Installation,
  configUrl: string,
  extra: readonly string[] = [],
): readonly string[] {
  const { hostname, network } = checked(Installation, value, SOURCE);
  return kernelArguments([
    `inst.ks=${configUrl}`,
    "inst.text",
    `ifname=${CARD}:${network.mac}`,
    ...addresses(),
    ...extra,
  ]);

  function addresses(): string[] {
    if (network.method === "dhcp") return [`ip=${CARD}:dhcp`];
    const { address, mask } = addressOf(network);
    return [
      `ip=${address}::${network.gateway ?? ""}:${mask}:${hostname}:${CARD}:none`,
      ...network.nameServers.map((server) => `nameserver=${server}`),
    ];
  }
}

function problemsOf({ mirror, packages }: Installation): Problem[] {
  return [
    ...(mirror === undefined ? [{ path: "mirror", message: "is required: Anaconda has no default" }] : []),
    ...packages.flatMap((name, at) =>
      /[=~:]/.test(name.replace(/^@\^?/, ""))
        ? [{ path: `packages.${at}`, message: "must be a name as dnf has it: NAME or NAME-VERSION" }]
        : [],
    ),
  ];
}

function source({ mirror, proxy }: Installation): Command[] {
  return [{ command: "url", options: { url: mirror, proxy } }];
}

function language({ locale, keyboard }: Installation): Command[] {
  const layout = keyboard.variant === undefined ? keyboard.layout : `${keyboard.layout} (${keyboard.variant})`;
  return [
    { command: "lang", words: [locale] },
    { command: "keyboard", options: { xlayouts: layout } },
  ];
}

/** Time servers stand in `timezone` up to release 8, in `timesource` since. */
function time({ timezone, ntpServers }: Installation, release: Release): Command[] {
  const isOld = release === 8;
  const listed = isOld && ntpServers.length > 0 ? ntpServers.join(",") : undefined;
  return [
    { command: "timezone", options: { utc: true, ntpservers: listed }, words: [timezone] },
    ...(isOld ? [] : ntpServers.map((server) => ({ command: "timesource", options: { "ntp-server": server } }))),
  ];
}

function network({ network: card, hostname }: Installation): Command {
  const shared = { device: card.mac, bootproto: card.method, onboot: "yes", activate: true, hostname } as const;
  if (card.method === "dhcp") return { command: "network", options: shared };
  const { address, mask } = addressOf(card);
  const nameserver = card.nameServers.length === 0 ? undefined : card.nameServers.join(",");
  return {
    command: "network",
    options: { ...shared, ip: address, netmask: mask, gateway: card.gateway, nameserver, noipv6: true },
  };
}

function account({ user }: Installation): Command[] {
  const { name, passwordHash, sshKeys } = user;
  return [
    { command: "rootpw", options: { lock: true } },
    {
      command: "user",
      // `!` is a hash that no password has; Anaconda would take a locked account for no administrator, and ask for one.
      options: { name, groups: "wheel", iscrypted: true, password: passwordHash ?? "!" },
    },
    ...sshKeys.map((key) => ({ command: "sshkey", options: { username: name }, words: [key] })),
  ];
}

/** Scripts end at the first command that fails; what Anaconda runs after an error then reports it. */
function sections({ user, packages, commands, report, seedUrl }: Installation): Section[] {
  const sudoers = `/etc/sudoers.d/${user.name}`;
  return [
    {
      section: "packages",
      lines: [
        "@^minimal-environment",
        "openssh-server",
        "sudo",
        ...(seedUrl === undefined ? [] : ["cloud-init"]),
        ...packages,
      ],
    },
    {
      section: "post",
      options: { erroronfail: true, interpreter: "/bin/bash" },
      lines: [
        "set -e",
        `${shellCommand("printf", "%s\\n", `${user.name} ALL=(ALL) NOPASSWD:ALL`)} > ${shellWord(sudoers)}`,
        shellCommand("chmod", "0440", sudoers),
        ...(seedUrl === undefined
          ? []
          : [
              `${shellCommand("printf", "%s\\n", ...seedSettings(seedUrl, { users: "kept" }))} > ${SEED_FILE}`,
              shellCommand("chmod", "0600", SEED_FILE),
            ]),
        ...commands.map((command) => shellCommand("sh", "-c", command)),
      ],
    },
    ...(report === undefined
      ? []
      : [{ section: "post" as const, options: { nochroot: true as const }, lines: [reportCommand(report.succeeded)] }]),
    ...(report?.failed === undefined ? [] : [{ section: "onerror" as const, lines: [reportCommand(report.failed)] }]),
  ];
}
