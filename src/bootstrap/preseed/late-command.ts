import type { Installation } from "../installation/installation.ts";
import { SEED_FILE, seedSettings } from "../installation/seed.ts";
import { runAndReport, shellCommand, shellWord } from "../installation/shell.ts";

const TARGET = "/target";
/** A card that is brought up whenever it turns up may not be there yet when cloud-init asks. debian-installer copies its own file after this. */
const AT_BOOT = `for file in /etc/network/interfaces ${TARGET}/etc/network/interfaces; do if [ -e "$file" ]; then sed -i "s/^allow-hotplug /auto /" "$file"; fi; done`;

/**
 * What debian-installer runs at its end, in its own surroundings with the new system below `/target`: a line of sh. Whatever no question
 * of debconf sets is set here.
 */
export function lateCommand(installation: Installation): string {
  const { user, ntpServers, network, commands, report, seedUrl } = installation;
  const nameServers = network.method === "static" ? network.nameServers.map((server) => `nameserver ${server}`) : [];
  const steps = [
    ...(user.sshKeys.length === 0 ? [] : authorize(user.name, user.sshKeys)),
    ...file(`/etc/sudoers.d/${user.name}`, "0440", [`${user.name} ALL=(ALL) NOPASSWD:ALL`]),
    ...(ntpServers.length === 0
      ? []
      : file("/etc/systemd/timesyncd.conf.d/slipway.conf", "0644", ["[Time]", `NTP=${ntpServers.join(" ")}`])),
    ...(nameServers.length === 0 ? [] : file("/etc/resolv.conf", "0644", nameServers)),
    ...(seedUrl === undefined ? [] : [...file(SEED_FILE, "0600", seedSettings(seedUrl, { users: "kept" })), AT_BOOT]),
    ...commands.map((command) => inTarget("sh", "-c", command)),
  ];
  return runAndReport(steps, report);
}

function authorize(user: string, keys: readonly string[]): string[] {
  const folder = `/home/${user}/.ssh`;
  return [
    ...file(`${folder}/authorized_keys`, "0600", keys),
    shellCommand("chmod", "0700", `${TARGET}${folder}`),
    inTarget("chown", "-R", `${user}:${user}`, folder),
  ];
}

/** Writes a file of the new system, with its folder. */
function file(path: string, mode: string, lines: readonly string[]): string[] {
  const target = `${TARGET}${path}`;
  return [
    shellCommand("mkdir", "-p", target.slice(0, target.lastIndexOf("/"))),
    `${shellCommand("printf", "%s\\n", ...lines)} > ${shellWord(target)}`,
    shellCommand("chmod", mode, target),
  ];
}

function inTarget(...words: readonly string[]): string {
  return shellCommand("in-target", ...words);
}
