/** A TPM 2.0 that we did not write (swtpm), and the programs that the world orders TPMs with (tpm2-tools). */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

/** Why there can be none; false: there can. */
export function noTpm(): string | false {
  const missing = Object.entries({ swtpm: "swtpm", tpm2_activatecredential: "tpm2-tools" }).filter(
    ([program]) => spawnSync(program, ["--version"]).error !== undefined,
  );
  return missing.length === 0 ? false : `not installed: ${missing.map(([, name]) => name).join(" ")}`;
}

export class TpmEmulator {
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, process: ChildProcess) {
    this.#folder = folder;
    this.#process = process;
  }

  /** A new TPM, made anew and started. Whoever calls closes it. */
  static async start(): Promise<TpmEmulator> {
    const folder = mkdtempSync(join(tmpdir(), "slipway-tpm-"));
    const [server, control] = [join(folder, "sock"), join(folder, "sock.ctrl")];
    const sockets = ["--server", `type=unixio,path=${server}`, "--ctrl", `type=unixio,path=${control}`];
    const args = [
      "socket",
      "--tpm2",
      "--tpmstate",
      `dir=${folder}`,
      ...sockets,
      "--flags",
      "not-need-init,startup-clear",
    ];
    const process = spawn("swtpm", args, { stdio: "ignore" });
    while (!existsSync(control) && process.exitCode === null) await pause(20);
    return new TpmEmulator(folder, process);
  }

  /** Runs a tool in a folder of the TPM's own, where the files that it is given are. Rejects with what it said. */
  async run(tool: string, ...args: string[]): Promise<void> {
    const env = { ...process.env, TPM2TOOLS_TCTI: `swtpm:path=${join(this.#folder, "sock")}` };
    const options = { cwd: this.#folder, env, timeout: 60_000 };
    try {
      await promisify(execFile)(tool, args, options);
    } finally {
      // The tools leave in it what a kernel would take out, and it has room for three objects.
      await promisify(execFile)("tpm2_flushcontext", ["--transient-object"], options);
    }
  }

  /** Carries commands out as the agent does, and forgets what they made. Resolves with the TPM's answers. */
  async carryOut(commands: readonly string[]): Promise<Buffer[]> {
    const socket = connect(join(this.#folder, "sock"));
    const answers: Buffer[] = [];
    const handles: string[] = [];
    for (const command of commands) {
      const bytes = Buffer.from(
        command.replace(/@(\d)/g, (_, n: string) => handles[Number(n) - 1]!),
        "hex",
      );
      socket.write(bytes);
      const [answer] = (await once(socket, "data")) as [Buffer];
      answers.push(answer);
      handles.push(answer.subarray(10, 14).toString("hex"));
    }
    socket.destroy();
    for (const what of ["--transient-object", "--loaded-session"]) await this.run("tpm2_flushcontext", what);
    return answers;
  }

  read(file: string): Buffer {
    return readFileSync(join(this.#folder, file));
  }

  write(file: string, content: Uint8Array): void {
    writeFileSync(join(this.#folder, file), content);
  }

  async close(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.kill()) await once(this.#process, "exit");
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
