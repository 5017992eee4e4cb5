/** A real OpenSSH server on loopback, for tests. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

const SSHD = ["/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"].find((path) => existsSync(path));

/** Why there is no server to test against; undefined: there is. */
export const NO_SSHD: string | undefined = reason();

function reason(): string | undefined {
  if (SSHD === undefined) return "there is no sshd: install openssh-server";
  for (const program of ["/usr/bin/ssh", "/usr/bin/ssh-keygen"])
    try {
      accessSync(program);
    } catch {
      return `there is no ${program}: install openssh-client`;
    }
  return undefined;
}

export interface TestServer {
  port: number;
  user: string;
  /** Of the private key that it takes. */
  identity: string;
  knownHosts: string;
  /** A folder for files. */
  folder: string;
  /** The line of `known_hosts` for an address. */
  hostKeyLine(address: string): string;
  /** Restarts it with another host key, as a machine that was installed anew has. */
  anew(): Promise<void>;
  /** Its processes for connections that stand. */
  connections(): number;
  stop(): void;
}

const START_MS = 20_000;

/** Starts it; it ends with the test. */
export async function startSshd(t: TestContext): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-sshd-"));
  const path = (name: string): string => join(folder, name);
  const key = (name: string): void => {
    rmSync(path(name), { force: true });
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", path(name)]);
  };
  key("host_key");
  key("user_key");
  writeFileSync(path("authorized_keys"), readFileSync(path("user_key.pub")), { mode: 0o600 });
  const port = await freePort();
  // sshd(8) as root gives up its rights in this folder.
  if (process.geteuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const config = [
    ...[`Port ${port}`, "ListenAddress 127.0.0.1", "ListenAddress ::1", `HostKey ${path("host_key")}`, "UsePAM no"],
    ...[`AuthorizedKeysFile ${path("authorized_keys")}`, "StrictModes no", "PasswordAuthentication no"],
    ...["PermitRootLogin prohibit-password", `PidFile ${path("pid")}`, "MaxStartups 100"],
  ];
  writeFileSync(path("sshd_config"), `${config.join("\n")}\n`);
  let server = await started(path("sshd_config"));
  const stop = (): void => void server.kill("SIGKILL");
  t.after(async () => {
    stop();
    if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    port,
    user: userInfo().username,
    identity: path("user_key"),
    knownHosts: path("known_hosts"),
    folder,
    hostKeyLine: (address) => `[${address}]:${port} ${readFileSync(path("host_key.pub"), "utf8")}`,
    async anew() {
      server.kill("SIGKILL");
      if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
      rmSync(path("host_key.pub"));
      key("host_key");
      server = await started(path("sshd_config"));
    },
    connections: () => childrenOf(server.pid!),
    stop,
  };
}

async function started(config: string): Promise<ChildProcess> {
  const server = spawn(SSHD!, ["-D", "-e", "-f", config], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  const limit = AbortSignal.timeout(START_MS);
  while (!said.includes("Server listening on 127.0.0.1")) {
    const [chunk] = (await Promise.race([
      once(server.stderr!, "data", { signal: limit }),
      once(server, "exit").then(() => [undefined]),
    ]).catch(() => {
      throw new Error(`sshd has not said in ${START_MS} ms that it listens: ${said}`);
    })) as [Buffer | undefined];
    if (chunk === undefined) throw new Error(`sshd has ended: ${said}`);
    said += chunk.toString("utf8");
  }
  server.stderr!.resume();
  return server;
}

function childrenOf(pid: number): number {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter((each) => each !== "").length;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
