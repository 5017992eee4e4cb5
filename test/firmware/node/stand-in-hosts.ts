/** Hosts of a sub-cluster that are addresses of this machine in the lab's network: what a load balancer and a jump host lead to. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { KeptProcess } from "../../../src/kubernetes/kept-process.ts";
import { LAB } from "../../../src/lab/rack.ts";
import { sshKeyPair } from "../../../src/pki/ssh-keys.ts";

const API_PORT = 6443;

/** Gives this machine another address in the lab's network. */
export function addAddress(address: string): void {
  const { status, stderr } = spawnSync("ip", ["address", "add", `${address}/${LAB.prefix}`, "dev", LAB.bridge]);
  if (status !== 0) throw new Error(`${address}: ${stderr}`);
}

export interface StandInServer {
  /** Ends it, with all that is open. */
  cut(): Promise<void>;
}

/** An API server at port 6443 of an address: each connection is led to the real one. */
export async function apiServerAt(t: TestContext, address: string, real: URL): Promise<StandInServer> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const behind = connect({ host: real.hostname, port: Number(real.port) });
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy()).on("close", () => sockets.delete(one));
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(API_PORT, address, resolve));
  const cut = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  t.after(() => (server.listening ? cut() : undefined));
  return { cut };
}

/** OpenSSH's server at port 22 of an address, which lets root in with this key. */
export function sshServerAt(t: TestContext, address: string, { folder, key }: { folder: string; key: string }): void {
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  mkdirSync("/run/sshd", { recursive: true });
  const config = [
    ...[`ListenAddress ${address}`, "Port 22", "PidFile none", "UsePAM no", "StrictModes no", "LogLevel VERBOSE"],
    `HostKey ${file("host-key", sshKeyPair("stand-in").privateKey)}`,
    `AuthorizedKeysFile ${file("authorized-keys", `${key}\n`)}`,
    ...["PermitRootLogin prohibit-password", "PasswordAuthentication no", "KbdInteractiveAuthentication no"],
  ];
  const server = new KeptProcess({
    ...{ command: "/usr/sbin/sshd", args: ["-D", "-e", "-f", file("sshd-config", `${config.join("\n")}\n`)] },
    ...{ logFile: join(folder, "sshd.log"), orphaned: "KILL" },
  });
  t.after(() => server.stop("KILL"));
}
