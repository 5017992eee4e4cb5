import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Kernel and tools can be slow on a busy machine; what takes longer than this hangs. */
const DEADLINE_MS = 60_000;

/** Programs of the system's administration are not on everybody's path. */
const PATH = [process.env.PATH ?? "", "/usr/sbin", "/sbin"].join(delimiter);

/** Where a program is; undefined: it is not installed. */
export function program(name: string): string | undefined {
  return PATH.split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
}

/** Why a test that needs these programs and a network of its own is skipped; false: it need not be. */
export async function lacking(...programs: string[]): Promise<string | false> {
  const missing = ["unshare", "nsenter", "ip", ...programs].filter((name) => program(name) === undefined);
  if (missing.length > 0) return `not installed: ${missing.join(", ")}`;
  return run(program("unshare")!, ["--user", "--map-root-user", "--net", "true"]).then(
    () => false,
    () => "this kernel gives nobody a network namespace of their own",
  );
}

export interface Output {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Networks, processes and mounts apart from those of the machine, without privileges. `ip netns add` makes more networks inside.
 * Whatever runs in it ends with it, and it ends with this process.
 */
export class Namespace {
  readonly #holder: ChildProcess;
  readonly #enter: readonly string[];

  private constructor(holder: ChildProcess, pid: string) {
    this.#holder = holder;
    this.#enter = ["--target", pid, "--user", "--net", "--mount", "--pid", "--preserve-credentials", "--"];
  }

  /** `setup` is a shell script that runs in it first. */
  static async open(setup = ""): Promise<Namespace> {
    const apart = ["--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
    const holder = spawn(program("unshare")!, [...apart, "sh", "-c", "mount -t tmpfs none /run && echo ready && cat"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(holder.stdout!, "data");
    const children = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, "utf8").trim();
    const namespace = new Namespace(holder, children);
    try {
      await namespace.shell(`ip link set lo up\n${setup}`);
      return namespace;
    } catch (error) {
      await namespace.close();
      throw error;
    }
  }

  /** Runs a shell script; rejects with what it said when a command in it fails. */
  async shell(script: string): Promise<string> {
    const { code, stdout, stderr } = await this.run("sh", ["-ec", script]);
    if (code !== 0) throw new Error(`${script}\nended with ${code}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Runs a program to its end, in one of the networks inside where `net` names one. */
  async run(
    name: string,
    args: readonly string[],
    options: { net?: string; deadlineMs?: number } = {},
  ): Promise<Output> {
    const child = this.start(name, args, options);
    const signal = AbortSignal.timeout(options.deadlineMs ?? DEADLINE_MS);
    let stdout = "";
    let stderr = "";
    child.stdout!.on("data", (bytes: Buffer) => (stdout += bytes));
    child.stderr!.on("data", (bytes: Buffer) => (stderr += bytes));
    try {
      const [code] = (await once(child, "close", { signal })) as [number | null];
      return { code: code ?? -1, stdout, stderr };
    } catch (error) {
      child.kill("SIGKILL");
      throw new Error(`${name} did not end in time: ${stdout}${stderr}`, { cause: error });
    }
  }

  /** Starts a program, which ends with the namespace at the latest. */
  start(
    name: string,
    args: readonly string[],
    { net, env = {} }: { net?: string; env?: NodeJS.ProcessEnv } = {},
  ): ChildProcess {
    const inside = net === undefined ? [] : ["ip", "netns", "exec", net];
    return spawn(program("nsenter")!, [...this.#enter, ...inside, program(name) ?? name, ...args], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, PATH, ...env },
    });
  }

  /**
   * Starts a program and waits until it has said these words on its standard error. Resolves to what gives all that it has said so far;
   * rejects with that when it ends first or is late.
   */
  async startSaying(
    words: string,
    name: string,
    args: readonly string[],
    options: { net?: string } = {},
  ): Promise<() => string> {
    const child = this.start(name, args, options);
    child.stdout!.resume();
    let said = "";
    await new Promise<void>((resolve, reject) => {
      const give = (why: string): void => reject(new Error(`${name} ${why}: ${said}`));
      const late = AbortSignal.timeout(DEADLINE_MS);
      late.addEventListener("abort", () => give(`did not say "${words}" in time`));
      child.once("close", () => give(`ended before it said "${words}"`));
      child.stderr!.on("data", (bytes: Buffer) => {
        said += bytes;
        if (said.includes(words)) resolve();
      });
    });
    return () => said;
  }

  async close(): Promise<void> {
    const closed = once(this.#holder, "close");
    this.#holder.stdin?.end();
    await closed;
  }
}
