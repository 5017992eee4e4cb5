import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { QemuMachine } from "../../src/lab/qemu-machine.ts";
import { sshKeyPair } from "../../src/pki/ssh-keys.ts";
import type { Stage } from "./stage.ts";

const run = promisify(execFile);
/** Beside much other work one has taken 520 s. */
const SYSTEM_SECONDS = 900;

/** A user's way into an installed system. */
export interface Login {
  /** File with the private key. */
  key: string;
  /** Its public half, as `authorized_keys` has it. */
  authorizedKey: string;
  /** What the system is to be told at its first boot. */
  userData: string;
}

/** A new key for a machine's user, and the user data that has it. */
export async function loginFor({ folder }: Stage, { spec: { name } }: QemuMachine): Promise<Login> {
  const { privateKey, authorizedKey } = sshKeyPair("the suite");
  const key = join(folder, name, "key");
  await writeFile(key, privateKey, { mode: 0o600 });
  const userData = `#cloud-config
users:
  - name: slipway
    shell: /bin/sh
    ssh_authorized_keys: [${JSON.stringify(authorizedKey)}]
write_files:
  - path: /etc/first-boot
    content: |
      from the user data of ${name}
`;
  return { key, authorizedKey, userData };
}

/** Resolves when the system that was installed has started, and lets its user in by the key of its user data. */
export async function reached({ netboot }: Stage, machine: QemuMachine, { key }: Login): Promise<void> {
  const { name, mac } = machine.spec;
  // Its user is there before its own keys are, and its SSH server later than both. A login prompt may never come: a busy machine's serial port can be too late for systemd.
  const started = new RegExp(`${name} login:|SHA256:\\S+ root@${name}\\b`);
  await machine.console.shows(started, AbortSignal.timeout(SYSTEM_SECONDS * 1000));
  const { address } = netboot.hosts.get(mac)!;
  const patience = ["ConnectTimeout=5", "ConnectionAttempts=600"];
  const options = ["BatchMode=yes", ...patience, "StrictHostKeyChecking=accept-new", `UserKnownHostsFile=${key}.hosts`];
  const ssh = ["-i", key, ...options.flatMap((option) => ["-o", option]), `slipway@${address}`];
  const { stdout } = await run("ssh", [...ssh, "hostname; cat /etc/first-boot"], { timeout: SYSTEM_SECONDS * 1000 });
  assert.equal(stdout, `${name}\nfrom the user data of ${name}\n`);
}
