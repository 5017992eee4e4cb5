/** How a server of files is measured beside another one: both as processes of their own, on loopback, with the same file. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@slipway/base";
import { NODE_ENV, NODE_FLAGS } from "./as-command.ts";

export const HOST = "127.0.0.1";
/** Of the file `image`. */
export const BYTES = 100_000_000;

export interface Contest {
  /** Holds the file. */
  folder: string;
  /** Our server's. */
  port: number;
  /** Of our server for TLS, where it has one. */
  tlsPort: number;
  /** Our server's process. */
  pid: number;
  /** Starts another's server, which ends with the contest. Why there is none, should it end before it is `ready`; its process otherwise. */
  startOther(program: string, args: readonly string[], ready: () => Promise<void>): Promise<string | { pid: number }>;
}

/** Runs `measure` beside our server: `benchmark` (a file) with the arguments `serve` and the folder, where `prepare` has put more. Nothing of it stays. */
export async function contest(
  benchmark: string,
  measure: (contest: Contest) => Promise<void>,
  prepare: (folder: string) => void = () => {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-files-bench-"));
  const started: ChildProcess[] = [];
  try {
    writeFileSync(join(folder, "image"), seededRandom(1).bytes(BYTES));
    prepare(folder);
    const ours = spawn(process.execPath, [...NODE_FLAGS, benchmark, "serve", folder], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, ...NODE_ENV },
    });
    started.push(ours);
    const [line] = (await once(ours.stdout, "data")) as [Buffer];
    const [port, tlsPort] = line.toString().split(" ").map(Number);
    await measure({
      folder,
      port: port!,
      tlsPort: tlsPort!,
      pid: ours.pid!,
      async startOther(program, args, ready) {
        const other = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
        started.push(other);
        return await Promise.race([ready().then(() => ({ pid: other.pid! })), ended(other)]);
      },
    });
  } finally {
    for (const child of started) child.kill();
    rmSync(folder, { recursive: true });
  }
}

/** Our server's process: prints its ports and ends with its standard input. */
export async function serveContest(server: {
  port: number;
  tls?: { port: number };
  close(): Promise<void>;
}): Promise<void> {
  process.stdout.write(`${server.port} ${server.tls?.port ?? 0}\n`);
  process.stdin.resume();
  await once(process.stdin, "end");
  await server.close();
}

async function ended(child: ChildProcess): Promise<string> {
  let said = "";
  child.stderr?.on("data", (text: Buffer) => {
    said += text.toString();
  });
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code) => resolve(`ended with ${code}: ${said.trim()}`));
  });
}
