/** A TPM 2.0 that we did not write (swtpm), and the programs that the world orders TPMs with (tpm2-tools). */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { createPublicKey, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

/** Why there can be none; false: there can. */
export function noTpm(): string | false {
  const missing = Object.entries({
    ...{ swtpm: "swtpm", tpm2_activatecredential: "tpm2-tools", swtpm_setup: "swtpm-tools", certtool: "gnutls-bin" },
  }).filter(([program]) => spawnSync(program, ["--version"]).error !== undefined);
  return missing.length === 0 ? false : `not installed: ${missing.map(([, name]) => name).join(" ")}`;
}

export class TpmEmulator {
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #keep: boolean;

  private constructor(folder: string, process: ChildProcess, keep: boolean) {
    this.#folder = folder;
    this.#keep = keep;
    this.#process = process;
  }

  /** A new TPM, made anew and started. Whoever calls closes it. */
  static async start(): Promise<TpmEmulator> {
    return TpmEmulator.in(mkdtempSync(join(tmpdir(), "slipway-tpm-")));
  }

  /** A new TPM with a certificate for its endorsement key, of an authority that swtpm makes for it: `ca/issuercert.pem`, below `ca/swtpm-localca-rootca-cert.pem`. */
  static async certified(): Promise<TpmEmulator> {
    const folder = mkdtempSync(join(tmpdir(), "slipway-tpm-"));
    const [config, authority, options] = ["setup.conf", "ca.conf", "ca.options"].map((name) => join(folder, name));
    const ca = join(folder, "ca");
    mkdirSync(ca);
    const tool = ["create_certs_tool=/usr/bin/swtpm_localca", `create_certs_tool_config=${authority}`];
    writeFileSync(config!, [...tool, `create_certs_tool_options=${options}`, ""].join("\n"));
    const files = { statedir: "", signingkey: "signkey.pem", issuercert: "issuercert.pem", certserial: "serial" };
    const lines = Object.entries(files).map(([name, file]) => `${name} = ${join(ca, file)}\n`);
    writeFileSync(authority!, lines.join(""));
    writeFileSync(options!, "");
    const args = ["--tpm2", "--tpmstate", folder, "--create-ek-cert", "--config", config!];
    await promisify(execFile)("swtpm_setup", args, { timeout: 120_000 });
    return TpmEmulator.in(folder);
  }

  /** The TPM whose state is in the folder, or a new one. The folder goes when it is closed, unless it is to be kept. */
  static async in(folder: string, { keep = false } = {}): Promise<TpmEmulator> {
    const [server, control] = [join(folder, "sock"), join(folder, "sock.ctrl")];
    const sockets = ["--server", `type=unixio,path=${server}`, "--ctrl", `type=unixio,path=${control}`];
    // It makes the control socket, then the server's, and writes its process id when both listen.
    const pid = join(folder, "pid");
    rmSync(pid, { force: true });
    const args = [
      "socket",
      "--tpm2",
      "--tpmstate",
      `dir=${folder}`,
      ...sockets,
      "--pid",
      `file=${pid}`,
      "--flags",
      "not-need-init,startup-clear",
    ];
    const process = spawn("swtpm", args, { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    process.stderr.on("data", (chunk: Buffer) => {
      said += chunk;
    });
    while (!existsSync(pid)) {
      if (process.exitCode !== null || process.signalCode !== null)
        throw new Error(`swtpm ended with ${process.exitCode ?? process.signalCode}: ${said}`);
      await pause(20);
    }
    return new TpmEmulator(folder, process, keep);
  }

  /** Runs a tool in a folder of the TPM's own, where the files that it is given are. Rejects with what it said. */
  async run(tool: string, ...args: string[]): Promise<void> {
    const env = { ...process.env, TPM2TOOLS_TCTI: `swtpm:path=${join(this.#folder, "sock")}` };
    const options = { cwd: this.#folder, env, timeout: 60_000 };
    const failed = await promisify(execFile)(tool, args, options).then(
      () => undefined,
      (error: Error) => error,
    );
    // The tools leave in it what a kernel would take out, and it has room for three objects.
    const flush = promisify(execFile)("tpm2_flushcontext", ["--transient-object"], options);
    if (failed === undefined) await flush;
    else {
      await flush.catch(() => {});
      throw failed;
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

  /** Puts the bytes where a maker puts certificates, in the place of what is there. */
  async store(index: number, content: Uint8Array): Promise<void> {
    const at = `0x${index.toString(16)}`;
    await this.run("tpm2_nvundefine", at, "-C", "p").catch(() => {});
    // As the TCG's profile has it: made by the platform, read by anyone.
    const attributes = "ppwrite|ppread|ownerread|authread|no_da|platformcreate|writedefine";
    await this.run("tpm2_nvdefine", at, "-C", "p", "-s", String(content.length), "-a", attributes);
    this.write("content", content);
    await this.run("tpm2_nvwrite", at, "-C", "p", "-i", "content");
  }

  /** Its endorsement key, by the TCG's default template. */
  async endorsementKey(): Promise<KeyObject> {
    await this.run("tpm2_createek", "-G", "rsa", "-c", "own.ctx", "-u", "own.pem", "-f", "pem");
    return createPublicKey(this.read("own.pem"));
  }

  read(file: string): Buffer {
    return readFileSync(join(this.#folder, file));
  }

  write(file: string, content: Uint8Array): void {
    writeFileSync(join(this.#folder, file), content);
  }

  async close(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode === null && signalCode === null && this.#process.kill()) await once(this.#process, "exit");
    if (!this.#keep) rmSync(this.#folder, { recursive: true, force: true });
  }
}
