/** Configurations of OpenSSH on a jump host: of its server and of its user's client. Pure, and strict: names and addresses are checked. */
import { Fault, formatIp, tryParseIp } from "@slipway/base";

/** Where files are on the jump host. Those that users know are where the original has them. */
export const PLACES = {
  privateKeys: "/etc/opt/sip/ssh-private-keys",
  hosts: "/etc/opt/sip/hosts",
  credentials: "/etc/opt/sip/bmc",
  hostKeys: "/etc/opt/sip/host-keys",
  sshd: "/etc/opt/sip/sshd",
  scripts: "/opt/sip/bin",
  /** Folder of the sub-cluster's kubeconfig, where there is one. */
  kube: "/etc/opt/sip/kube",
  /** Made when the Pod starts: sshd takes keys and lists only where nobody else may write. */
  run: "/run/sip",
} as const;

export const USER = "ubuntu";
export const HOST_KEY = "ssh_host_ed25519_key";

export interface SshdPlaces {
  /** Folder with the host key and authorized_keys. */
  run: string;
  user: string;
}

/** sshd_config(5): keys only, one user, nothing of the image's own configuration. */
export function sshdConfig({ run, user }: SshdPlaces = { run: PLACES.run, user: USER }): string {
  const lines = [
    "Port 22",
    `HostKey ${path(run)}/${HOST_KEY}`,
    `AuthorizedKeysFile ${path(run)}/authorized_keys`,
    `AllowUsers ${name(user)}`,
    "AuthenticationMethods publickey",
    "PubkeyAuthentication yes",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "PermitRootLogin no",
    // Without it sshd takes an account without a password for a locked one, and lets nobody in.
    "UsePAM yes",
    "PermitEmptyPasswords no",
    "PermitUserEnvironment no",
    "StrictModes yes",
    "AllowAgentForwarding yes",
    "AllowTcpForwarding yes",
    "X11Forwarding no",
    "PrintMotd no",
    `SetEnv KUBECONFIG=${PLACES.kube}/config`,
    "LogLevel VERBOSE",
    "Subsystem sftp internal-sftp",
  ];
  return `${lines.join("\n")}\n`;
}

/** ssh_config(5) of the user: which keys are tried, and where each host is. `keys`: names of the private keys' files. */
export function sshConfig(
  hosts: readonly { unique: string; address: string }[],
  keys: readonly string[],
  folder: string = PLACES.privateKeys,
): string {
  const lines = [
    ...hosts.flatMap(({ unique, address }) => [`Host ${name(unique)}`, `  HostName ${ip(address)}`]),
    "Host *",
    ...keys.map((key) => `  IdentityFile ${path(folder)}/${name(key)}`),
    // Hosts are installed anew, and nobody has their keys beforehand: the first that is seen counts for this Pod's life.
    "  StrictHostKeyChecking accept-new",
    "  UserKnownHostsFile /tmp/known_hosts",
  ];
  return `${lines.join("\n")}\n`;
}

function name(text: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(text)) return text;
  throw new Fault("Invalid", "ssh_config", `${JSON.stringify(text.slice(0, 64))} can't be a name in it`);
}

function path(text: string): string {
  if (/^[A-Za-z0-9._/-]+$/.test(text)) return text;
  throw new Fault("Bug", "ssh_config", `${JSON.stringify(text)} can't be a path in it`);
}

function ip(text: string): string {
  const address = tryParseIp(text);
  if (address === undefined) throw new Fault("Bug", "ssh_config", `${JSON.stringify(text)} is no address`);
  return formatIp(address);
}
