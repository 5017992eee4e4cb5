/** HAProxy as a process with the configuration of a load balancer of SIP: what a Pod of it runs, on this machine. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, deadline } from "@slipway/base";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";

const PATIENCE_MS = 60_000;
const LOOK_MS = 20;

export interface Haproxy {
  /** Has it take another configuration, without closing its sockets; resolves once the new one serves. Connections of the old one end by themselves. */
  roll(config: string): Promise<void>;
  /** What it has logged. */
  log(): string;
  /** The end of it, without connections. */
  news(): string;
  stop(): Promise<void>;
}

/** Starts it. `program`: where it is, and the folder of its libraries. */
export async function startHaproxy(
  folder: string,
  config: string,
  { program, libraries, clock }: { program: string; libraries: string; clock: Clock },
): Promise<Haproxy> {
  const [file, logFile] = [join(folder, "haproxy.cfg"), join(folder, "haproxy.log")];
  writeFileSync(file, config);
  const process = new KeptProcess({
    command: program,
    args: ["-W", "-f", file],
    env: { LD_LIBRARY_PATH: libraries },
    ...{ logFile, orphaned: "KILL" },
  });
  const said = (): string => readFileSync(logFile, "utf8");
  const news = (): string =>
    said()
      .split("\n")
      .filter((line) => !line.startsWith("Connect from"))
      .slice(-30)
      .join("\n");
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    const { signal, done } = deadline(clock, PATIENCE_MS);
    try {
      while (!holds()) {
        if (signal.aborted || !process.running) throw new Error(`not within a minute: ${what}\n${news()}`);
        await clock.sleep(LOOK_MS);
      }
    } finally {
      done();
    }
  };
  const loads = (): number => said().split("Loading success.").length - 1;
  await until("HAProxy has loaded its configuration", () => loads() > 0);
  let served = loads();
  return {
    async roll(next) {
      writeFileSync(file, next);
      // It ignores the signal until it waits for it.
      await until("HAProxy waits for signals", () => (caught(process.pid()) & RELOAD_BIT) !== 0n);
      globalThis.process.kill(process.pid(), "SIGUSR2");
      await until("HAProxy has taken the next configuration", () => loads() > served);
      served = loads();
    },
    log: said,
    news,
    stop: () => process.stop("KILL"),
  };
}

/** SIGUSR2 as proc(5) has it. */
const RELOAD_BIT = 1n << 11n;

/** The signals that a process catches. */
function caught(pid: number): bigint {
  const [, mask = "0"] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return BigInt(`0x${mask}`);
}
