import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { createInterface } from "node:readline";
import { systemClock as clock, type Http, type HttpAnswer, type HttpRequest, plain } from "@slipway/base";

const LOOK_MS = 100;

/** One operator process. */
export class Replica {
  readonly child: ChildProcess;
  readonly bootUrl: string;
  readonly said: string[] = [];
  readonly started: Promise<void>;
  /** Whether machines can be answered by it. */
  awake = true;

  constructor(args: readonly string[], env: Record<string, string>, bootPort: number) {
    this.bootUrl = `http://127.0.0.1:${bootPort}`;
    this.child = spawn(process.execPath, ["src/cli/main.ts", "operator", ...args], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: process.env.PATH, ...env },
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.started = promise;
    createInterface({ input: this.child.stderr! }).on("line", (line) => {
      this.said.push(line);
      if (line.includes("operator started")) resolve();
    });
    this.child.once("exit", (code, signal) => {
      this.awake = false;
      reject(new Error(`the operator ended with ${code ?? signal}\n${this.said.slice(-10).join("\n")}`));
    });
    promise.catch(() => {});
  }

  /** Its part of the Lease's holder: what follows is drawn anew at each start. */
  get identity(): string {
    return `${hostname()}_${this.child.pid}`;
  }

  pause(): void {
    this.awake = false;
    this.child.kill("SIGSTOP");
  }

  resume(): void {
    this.awake = true;
    this.child.kill("SIGCONT");
  }

  /** Resolves when it is gone. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, "exit");
    this.child.kill(signal);
    await gone;
  }
}

/** Answers a machine by whichever replica does, as a Service; while none is there, the machine comes again. */
export async function forward(request: HttpRequest, replicas: readonly Replica[], http: Http): Promise<HttpAnswer> {
  const { method, headers = {}, body } = request;
  const url = new URL(request.url);
  for (let attempt = 0; attempt < 100 && request.signal?.aborted !== true; attempt++) {
    const replica = replicas.findLast(({ awake }) => awake);
    if (replica !== undefined) {
      const { host: _, connection: __, ...passed } = headers;
      const to = { method, url: `${replica.bootUrl}${url.pathname}${url.search}`, headers: passed, timeoutMs: 5_000 };
      const answer = await http(body === undefined ? to : { ...to, body }).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) return answer;
    }
    await clock.sleep(LOOK_MS);
  }
  return plain(503, "no replica answers");
}
