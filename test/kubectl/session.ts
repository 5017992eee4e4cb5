import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";

const KUBECTL = process.env.KUBECTL ?? "kubectl";
const BIN = join(import.meta.dirname, "../../bin");
const START_MS = 30_000;

export interface Answer {
  code: number;
  out: string;
  err: string;
}

/** `slipway up` as a user starts it, in a directory of its own, and a real kubectl against it. */
export class Session {
  readonly dir: string;
  #up: ChildProcess | undefined;

  private constructor(dir: string) {
    this.dir = dir;
  }

  static async start(): Promise<Session> {
    const session = new Session(await mkdtemp(join(tmpdir(), "slipway-kubectl-")));
    await session.up();
    return session;
  }

  /** Starts (again) and waits for the line that names the kubeconfig. */
  async up(): Promise<void> {
    const args = ["up", "--dir", this.dir, "--port", "0", "--speed", "200", "--sim", "harvester"];
    const child = spawn("bin/slipway", args, { stdio: ["ignore", "pipe", "pipe"] });
    this.#up = child;
    const said: string[] = [];
    child.stderr.on("data", (chunk: Buffer) => said.push(chunk.toString()));
    const deadline = setTimeout(() => child.kill("SIGKILL"), START_MS);
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line);
      if (!line.includes("kubeconfig")) continue;
      clearTimeout(deadline);
      child.stdout.resume();
      return;
    }
    throw new Error(`slipway up ended without naming a kubeconfig:\n${said.join("\n")}`);
  }

  async kill(signal: "SIGKILL" | "SIGINT"): Promise<number | null> {
    const child = this.#up!;
    const gone = child.exitCode === null && child.signalCode === null ? once(child, "exit") : Promise.resolve();
    child.kill(signal);
    await gone;
    return child.exitCode;
  }

  async close(): Promise<void> {
    await this.kill("SIGKILL");
    await rm(this.dir, { recursive: true, force: true });
  }

  /** Minor version of the client: 20 for 1.20. Some commands are younger than others. */
  async minor(): Promise<number> {
    const { clientVersion } = JSON.parse((await this.kubectl("version --client --output=json")).out);
    return Number.parseInt(clientVersion.minor, 10);
  }

  /** Runs kubectl; never rejects for its exit code. */
  async kubectl(command: string | readonly string[], input = ""): Promise<Answer> {
    const words = typeof command === "string" ? command.split(" ") : command;
    return await new Promise((resolve) => {
      const env = {
        ...process.env,
        // kubectl finds its plugin there.
        PATH: `${BIN}${delimiter}${process.env.PATH}`,
        ...{ KUBECONFIG: join(this.dir, "kubeconfig"), HOME: this.dir, EDITOR: "" },
      };
      const child = execFile(KUBECTL, [...words], { env, timeout: 60_000 }, (error, out, err) => {
        resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : 1, out, err });
      });
      child.stdin?.end(input);
    });
  }

  /** Runs kubectl and fails with what it said when it does not end well. */
  async ok(command: string | readonly string[], input = ""): Promise<string> {
    const answer = await this.kubectl(command, input);
    if (answer.code === 0) return answer.out;
    throw new Error(
      `kubectl ${typeof command === "string" ? command : command.join(" ")}: exit ${answer.code}\n${answer.err}${answer.out}`,
    );
  }
}
