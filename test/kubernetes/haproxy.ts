/** HAProxy as a process with the configuration of a load balancer of SIP: what one Pod of it runs, at an address of this machine. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { type Clock, deadline } from "@slipway/base";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";

const PATIENCE_MS = 60_000;
const LOOK_MS = 20;
/** As the image has it (tools/service-images). */
const ARGUMENTS = ["-W", "-db", "-f"];

export interface HaproxyPlace {
  /** Where the program is, and the folder of its libraries. */
  program: string;
  libraries: string;
  /** Of its own. */
  folder: string;
  /** URL that it answers once it listens. */
  health: string;
  clock: Clock;
}

export interface Haproxy {
  /** What it has logged. */
  log(): string;
  /** The end of it, without connections. */
  news(): string;
  /** Has it end as a kubelet has: its connections may end by themselves for so long. Resolves when it has ended; true: it was killed. */
  end(graceMs: number): Promise<boolean>;
  kill(): Promise<void>;
}

/** Starts it; resolves when it listens. */
export async function startHaproxy(config: string, place: HaproxyPlace): Promise<Haproxy> {
  const { folder, program, libraries, health, clock } = place;
  mkdirSync(folder, { recursive: true });
  const [file, logFile] = [join(folder, "haproxy.cfg"), join(folder, "haproxy.log")];
  writeFileSync(file, config);
  const process = new KeptProcess({
    ...{ command: program, args: [...ARGUMENTS, file], env: { LD_LIBRARY_PATH: libraries } },
    ...{ logFile, orphaned: "KILL" },
  });
  const log = (): string => readFileSync(logFile, "utf8");
  const news = (): string =>
    log()
      .split("\n")
      .filter((line) => !line.startsWith("Connect from"))
      .slice(-30)
      .join("\n");
  const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
    const { signal, done } = deadline(clock, PATIENCE_MS);
    try {
      while (!(await holds())) {
        if (signal.aborted || !process.running) throw new Error(`not within a minute: ${what}\n${news()}`);
        await clock.sleep(LOOK_MS);
      }
    } finally {
      done();
    }
  };
  await until("HAProxy listens", () => answers(health));
  return {
    ...{ log, news },
    async end(graceMs) {
      // It ignores the signal until it waits for it.
      await until("HAProxy waits for signals", () => (caught(process.pid()) & END_BIT) !== 0n);
      globalThis.process.kill(process.pid(), "SIGUSR1");
      const { signal, done } = deadline(clock, graceMs);
      try {
        while (process.running && !signal.aborted) await clock.sleep(LOOK_MS);
      } finally {
        done();
      }
      const isKilled = process.running;
      await process.stop("KILL");
      return isKilled;
    },
    kill: () => process.stop("KILL"),
  };
}

/** SIGUSR1, the signal by which the image is stopped, as proc(5) has it. */
const END_BIT = 1n << 9n;

/** The signals that a process catches. */
function caught(pid: number): bigint {
  const [, mask = "0"] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return BigInt(`0x${mask}`);
}

async function answers(url: string): Promise<boolean> {
  return await new Promise((resolve) => {
    get(url, { agent: false, timeout: 5_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on("error", () => resolve(false));
  });
}
