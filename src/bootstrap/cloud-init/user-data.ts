/**
 * User data for an image with cloud-init: what is done at its first boot. The image is on the disk already, so there is no disk and no
 * layout here.
 */
import { cloudConfig } from "../installation/cloud-config.ts";
import { checked, namesOf, type Problem, refusal, SystemSettings } from "../installation/installation.ts";
import { runAndReport, shellCommand } from "../installation/shell.ts";

export interface Image {
  /** Changes when cloud-init is to run anew. */
  instanceId: string;
  /** Which package manager the image has. */
  packageManager: "apt" | "dnf";
}

const SOURCE = "cloud-init";
const DNF_CONFIG = "/etc/dnf/dnf.conf";

/** The settings as cloud-init takes them. Throws `Fault` (`Invalid`) that names each field it can't be given. */
export function checkedSettings(value: SystemSettings, { instanceId, packageManager }: Image): SystemSettings {
  const settings = checked(SystemSettings, value, SOURCE);
  const problems = [...problemsOf(settings, packageManager), ...problemsOfId(instanceId)];
  if (problems.length > 0) throw refusal(SOURCE, problems);
  return settings;
}

/** `#cloud-config` of settings that were checked. */
export function userData(settings: SystemSettings, packageManager: Image["packageManager"]): string {
  const { hostname, user, timezone, locale, keyboard, ntpServers, swap, packages, commands, report } = settings;
  const { host, domain } = namesOf(hostname);
  const steps = commands.map((command) => shellCommand("sh", "-c", command));
  const isScriptNeeded = steps.length > 0 || report !== undefined;
  return cloudConfig({
    hostname: host,
    fqdn: domain === "" ? undefined : hostname,
    users: [
      {
        name: user.name,
        shell: "/bin/bash",
        sudo: "ALL=(ALL) NOPASSWD:ALL",
        lock_passwd: user.passwordHash === undefined,
        passwd: user.passwordHash,
        ssh_authorized_keys: user.sshKeys.length === 0 ? undefined : user.sshKeys,
      },
    ],
    ssh_pwauth: user.passwordHash !== undefined,
    disable_root: true,
    timezone,
    locale,
    keyboard,
    ntp: ntpServers.length === 0 ? undefined : { enabled: true, servers: ntpServers },
    ...(packageManager === "apt" ? aptOf(settings) : dnfOf(settings)),
    packages: packages.length === 0 ? undefined : packages,
    swap: swap === "none" ? undefined : { filename: "/swap.img", size: swap.mebibytes * 2 ** 20 },
    // Commands and report in one: cloud-init itself goes on after a command that failed.
    runcmd: isScriptNeeded ? [["sh", "-c", runAndReport(steps, report)]] : undefined,
  });
}

function aptOf({ mirror, proxy }: SystemSettings): object {
  if (mirror === undefined && proxy === undefined) return {};
  return { apt: { primary: mirror === undefined ? undefined : [{ arches: ["default"], uri: mirror }], proxy } };
}

function dnfOf({ proxy }: SystemSettings): object {
  if (proxy === undefined) return {};
  return { write_files: [{ path: DNF_CONFIG, append: true, content: `proxy=${proxy}\n` }] };
}

function problemsOf({ mirror, packages }: SystemSettings, packageManager: Image["packageManager"]): Problem[] {
  const isDnf = packageManager === "dnf";
  return [
    ...(isDnf && mirror !== undefined
      ? [{ path: "mirror", message: "can't be set for dnf: the image's own repositories are used" }]
      : []),
    ...packages.flatMap((name, at) =>
      name.startsWith("@") && !isDnf ? [{ path: `packages.${at}`, message: "groups are for dnf" }] : [],
    ),
  ];
}

function problemsOfId(instanceId: string): Problem[] {
  const isId = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(instanceId);
  return isId ? [] : [{ path: "instanceId", message: "must be letters, digits, dots and dashes" }];
}
