import type { Installation } from "../installation/installation.ts";
import { runAndReport, shellCommand, shellWord } from "../installation/shell.ts";

const TARGET = "/target";

/**
 * What debian-installer runs at its end, in its own surroundings with the new system below `/target`: a line of sh. Whatever no question
 * of debconf sets is set here.
 */
export function lateCommand(installation: Installation): string {
  const { user, ntpServers, network, commands, report } = installation;
  const nameServers = network.method === "static" ? network.nameServers.map((server) => `nameserver ${server}`) : [];
  const steps = [
    ...(user.sshKeys.length === 0 ? [] : authorize(user.name, user.sshKeys)),
    ...file(`/etc/sudoers.d/${user.name}`, "0440", [`${user.name} ALL=(ALL) NOPASSWD:ALL`]),
    ...(ntpServers.length === 0
      ? []
      : file("/etc/systemd/timesyncd.conf.d/slipway.conf", "0644", ["[Time]", `NTP=${ntpServers.join(" ")}`])),
    ...(nameServers.length === 0 ? [] : file("/etc/resolv.conf", "0644", nameServers)),
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
