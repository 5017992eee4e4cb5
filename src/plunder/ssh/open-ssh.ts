/**
 * Machines by the system's OpenSSH client: one connection a machine, which all its commands share and which ends with this process. It reads no
 * configuration but what is given here, asks nothing, forwards nothing, and knows hosts by the keys in one file alone.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, Fault, privateFile } from "@slipway/base";
import { type Ended, runChild } from "./child.ts";
import { refusalOf } from "./refusal.ts";
import type { OpenShell, Run, Shell } from "./shell.ts";
import { MOST_COMMAND_BYTES, wrapped } from "./wrapped.ts";

export interface SshOptions {
  clock: Clock;
  user: string;
  port?: number;
  /** Of the private key; unset: the user's usual keys and agent. */
  identity?: string;
  /** Where the keys of hosts are recorded. */
  knownHosts: string;
  /** Records the key of a host that has none recorded. A recorded one is checked in any case. */
  recordsNew: boolean;
  /** Until the connection stands. */
  connectMs?: number;
  /** The program. */
  ssh?: string;
}

const CONNECT_MS = 20_000;
/** Of output and errors each. */
const MOST_BYTES = 1024 * 1024;
/** The other side ends a command by itself; this much later it is given up. */
const GRACE_MS = 10_000;
const READY = "slipway-ready";
/** ssh(1): the connection failed, or the command has ended with it. */
const SSH_FAILED = 255;

/** Connects to machines, each by a connection of its own. */
export function openSsh(options: SshOptions): OpenShell {
  privateFile(options.knownHosts);
  return async (host, signal) => {
    const folder = await mkdtemp(join(tmpdir(), "slipway-ssh-"));
    try {
      return await connected(host, { ...options, socket: join(folder, "s"), signal, folder });
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  };
}

interface Connecting extends SshOptions {
  socket: string;
  folder: string;
  signal: AbortSignal;
}

async function connected(host: string, place: Connecting): Promise<Shell> {
  const { clock, socket, folder, signal, ssh = "ssh", connectMs = CONNECT_MS } = place;
  signal.throwIfAborted();
  // It ends when its input does: with this process, however that ends.
  const master = spawn(ssh, [...settings(place), "-M", "-S", socket, "--", host, `echo ${READY}; exec cat`], {
    stdio: "pipe",
    detached: true,
  });
  let errors = "";
  master.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString("utf8")).slice(-8_192);
  });
  master.stdin.on("error", () => {});
  const gone = new Promise<void>((resolve) => master.once("close", () => resolve()).once("error", () => resolve()));
  let isOpen = true;
  void gone.then(() => {
    isOpen = false;
  });
  await ready(master, { host, clock, signal, connectMs, ssh, errors: () => errors });
  return {
    async run(command, how) {
      if (Buffer.byteLength(command) > MOST_COMMAND_BYTES)
        throw new Fault("TooLarge", host, `a command has more than ${MOST_COMMAND_BYTES} bytes`, {
          remedy: "upload it as a file, and run that",
        });
      const ended = await ran(command, how, { ...place, host });
      if (ended.code === SSH_FAILED && !isOpen)
        throw new Fault("LostAnswer", host, "the connection broke before the command had ended");
      return ended;
    },
    async close() {
      // No command runs any more but one that was given up, and that is not waited for.
      master.kill();
      const late = clock.after(GRACE_MS, () => master.kill("SIGKILL"));
      await gone;
      late.cancel();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Waiting {
  host: string;
  clock: Clock;
  signal: AbortSignal;
  connectMs: number;
  ssh: string;
  errors: () => string;
}

/** Resolves when the connection stands. Rejects with a `Fault`, or with the signal's reason; the process is ended then. */
function ready(
  master: ChildProcessWithoutNullStreams,
  { host, clock, signal, connectMs, ssh, errors }: Waiting,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const late = new Fault("Unavailable", host, `no connection in ${connectMs / 1000} s`);
    const timer = clock.after(connectMs, () => end(late));
    const onAbort = (): void => end(signal.reason);
    const done = (): void => {
      timer.cancel();
      signal.removeEventListener("abort", onAbort);
    };
    const end = (error: unknown): void => {
      done();
      master.kill();
      reject(error);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    let said = "";
    master.stdout.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString("utf8")).slice(-1_024);
      if (!said.includes(READY)) return;
      done();
      resolve();
    });
    master.once("error", (cause: NodeJS.ErrnoException) => end(noProgram(ssh, host, cause)));
    master.once("close", () => end(refusalOf(host, errors())));
  });
}

async function ran(command: string, how: Run, place: Connecting & { host: string }): Promise<Ended> {
  const { sudo, input = [], output, timeoutMs, signal } = how;
  const { host, clock, socket, ssh = "ssh" } = place;
  const { remote, head } = wrapped(command, { ...(sudo !== undefined && { sudo }), seconds: timeoutMs / 1000 });
  const ended = await runChild(clock, host, {
    command: ssh,
    // Without the shared connection it is to fail, not to make another.
    args: [...settings(place), "-o", "ProxyCommand=exit 1", "-S", socket, "--", host, remote],
    input: following(head, input),
    ...(output !== undefined && { output }),
    timeoutMs: timeoutMs + GRACE_MS,
    signal,
    mostBytes: MOST_BYTES,
  });
  // timeout(1)
  if (ended.code === 124) throw new Fault("Timeout", host, `it has not ended in ${timeoutMs / 1000} s, and was ended`);
  return ended;
}

async function* following(head: Buffer, input: NonNullable<Run["input"]>): AsyncGenerator<Buffer> {
  yield head;
  yield* input;
}

/** ssh_config(5) */
function settings({ user, port = 22, identity, knownHosts, recordsNew, connectMs = CONNECT_MS }: Connecting): string[] {
  const said = [
    "BatchMode=yes",
    `StrictHostKeyChecking=${recordsNew ? "accept-new" : "yes"}`,
    `UserKnownHostsFile="${knownHosts.replaceAll("%", "%%")}"`,
    "GlobalKnownHostsFile=none",
    ...["UpdateHostKeys=no", "CheckHostIP=no", "VerifyHostKeyDNS=no", "ControlPersist=no", "ClearAllForwardings=yes"],
    ...["ForwardAgent=no", "ForwardX11=no", "EscapeChar=none", "RequestTTY=no", "LogLevel=ERROR"],
    ...[`ConnectTimeout=${Math.ceil(connectMs / 1000)}`, "ServerAliveInterval=15", "ServerAliveCountMax=4"],
    ...(identity === undefined
      ? []
      : [`IdentityFile="${identity.replaceAll("%", "%%")}"`, "IdentitiesOnly=yes", "IdentityAgent=none"]),
  ];
  return ["-F", "none", "-T", "-l", user, "-p", String(port), ...said.flatMap((each) => ["-o", each])];
}

function noProgram(ssh: string, on: string, cause: NodeJS.ErrnoException): unknown {
  if (cause.code !== "ENOENT") return cause;
  return new Fault("MissingInput", on, `there is no program ${ssh}`, { remedy: "install the OpenSSH client", cause });
}
