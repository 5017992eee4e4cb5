import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:fs";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { Fault, isFault } from "@slipway/base";
import { type BootDevice, bootChanges, DEVICE_IDS } from "./boot-order.ts";
import { SerialConsole } from "./console.ts";
import { startTpm } from "./emulated-tpm.ts";
import { FIRMWARE_FILES } from "./firmware-files.ts";
import { bootNextFrom } from "./firmware-variables.ts";
import type { MachineSpec } from "./machine.ts";
import { qemuArguments } from "./qemu-arguments.ts";
import { Qmp } from "./qmp.ts";

const QMP_DESCRIPTOR = 3;
const KEPT_COMPLAINT = 2000;

interface Running {
  process: ChildProcess;
  qmp: Qmp;
  gone: Promise<void>;
}

/** A machine that can be switched on and off. It never outlives this process, not even when that is killed. */
export class QemuMachine {
  readonly spec: MachineSpec;
  readonly console: SerialConsole;
  readonly #tap: string;
  readonly #variables: string;
  readonly #tpmFolder: string;
  readonly #listeners = new Set<() => void>();
  #running: Running | undefined;
  #starting: Promise<void> | undefined;
  #first: BootDevice | undefined;
  #cd: string | undefined;
  #nextUrl: string | undefined;
  #hadUrl = false;
  #isClosed = false;

  private constructor(spec: MachineSpec, tap: string, folder: string) {
    this.spec = spec;
    this.#tap = tap;
    this.#variables = join(folder, "variables.fd");
    this.#tpmFolder = join(folder, "tpm");
    this.console = new SerialConsole(join(folder, "console.log"));
  }

  /** Sets a machine up, switched off. `folder` exists and is its own; the firmware's variables in it are kept from one life to the next. */
  static async create(spec: MachineSpec, { tap, folder }: { tap: string; folder: string }): Promise<QemuMachine> {
    const { flash } = FIRMWARE_FILES[spec.firmware];
    const machine = new QemuMachine(spec, tap, folder);
    if (flash !== undefined)
      await copyFile(flash.variables, machine.#variables, constants.COPYFILE_EXCL).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      });
    return machine;
  }

  get on(): boolean {
    return this.#running !== undefined;
  }

  /** Switches it on; nothing when it is on. Rejects with a `Fault` when it is closed, and when it does not start: that says what QEMU said. */
  powerOn(): Promise<void> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #start(): Promise<void> {
    if (this.#running !== undefined) return;
    if (this.#isClosed) throw new Fault("Unavailable", `machine ${this.spec.name}`, "it is switched off for good");
    await this.#setVariables();
    const tpm = this.spec.hasTpm === true ? await startTpm(this.#tpmFolder) : undefined;
    const { program, args } = qemuArguments(this.spec, {
      tap: this.#tap,
      variables: this.#variables,
      qmpDescriptor: QMP_DESCRIPTOR,
      ...(this.#first !== undefined && { first: this.#first }),
      ...(this.#cd !== undefined && { cd: this.#cd }),
      ...(tpm !== undefined && { tpm: tpm.socket }),
    });
    const process = spawn("setpriv", ["--pdeathsig", "KILL", "--", program, ...args], {
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      // In a session of its own, Ctrl-C reaches us alone.
      detached: true,
    });
    let complaint = "";
    process.stderr!.setEncoding("utf8").on("data", (text: string) => {
      complaint = (complaint + text).slice(-KEPT_COMPLAINT);
    });
    const gone = new Promise<void>((resolve) => {
      process.once("error", () => resolve());
      process.once("close", () => resolve());
    }).then(() => {
      this.#running = undefined;
    });
    this.console.read(process.stdout!);
    const running: Running = { process, qmp: new Qmp(process.stdio[QMP_DESCRIPTOR] as Duplex), gone };
    this.#running = running;
    const started = await running.qmp.ready.then(
      () => true,
      () => gone.then(() => false),
    );
    if (started) {
      running.qmp.onEvent((event) => event === "RESET" && this.#starts());
      return this.#starts();
    }
    await tpm?.stop().catch(() => {});
    throw new Fault("Unavailable", `machine ${this.spec.name}`, complaint.trim() || `${program} did not start`);
  }

  /** Pulls the plug, and resolves when it is off. */
  async powerOff(): Promise<void> {
    await this.#starting?.catch(() => {});
    const running = this.#running;
    if (running === undefined) return;
    running.process.kill("SIGKILL");
    await running.gone;
  }

  /** Presses the reset button. Rejects with a `Fault` when it is off. */
  async reset(): Promise<void> {
    await this.#order((qmp) => qmp.execute("system_reset"));
  }

  /** Presses the power button, which asks the operating system to end. Rejects with a `Fault` when it is off. */
  async pressPower(): Promise<void> {
    await this.#order((qmp) => qmp.execute("system_powerdown"));
  }

  /** Puts a device before the usual boot order, from the next start of the firmware on. Undefined: the usual order. */
  async bootFirst(device: BootDevice | undefined): Promise<void> {
    const changes = bootChanges(this.spec, this.#first, device);
    this.#first = device;
    // All at once: orders are carried out in turn, and those of another call don't come between.
    const set = (qmp: Qmp, [id, value]: readonly [string, number]): Promise<void> =>
      qmp.execute("qom-set", { path: `/machine/peripheral/${id}`, property: "bootindex", value });
    await this.#whileOn(async (qmp) => void (await Promise.all(changes.map((change) => set(qmp, change)))));
  }

  /**
   * Has firmware with UEFI boot once from this URL, by HTTP, when it is switched on the next time; undefined: not any more. It stands among the firmware's variables,
   * which QEMU reads when it starts: a reset is not enough.
   */
  bootNext(url: string | undefined): void {
    this.#nextUrl = url;
  }

  /** The URL of `bootNext`, until the machine is switched on. */
  get nextUrl(): string | undefined {
    return this.#nextUrl;
  }

  /** Puts an image into its CD drive, or takes out what is in it. */
  async insert(file: string | undefined): Promise<void> {
    this.#cd = file;
    await this.#whileOn((qmp) =>
      file === undefined
        ? qmp.execute("eject", { id: DEVICE_IDS.cd, force: true })
        : qmp.execute("blockdev-change-medium", {
            id: DEVICE_IDS.cd,
            filename: file,
            format: "raw",
            "read-only-mode": "read-only",
          }),
    );
  }

  /** Calls back each time the firmware has started: it has power, or was reset by whomever. By then it has its boot order. */
  onStart(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Resolves when it is off: by itself, or switched off. */
  async off(): Promise<void> {
    await this.#running?.gone;
  }

  /** Throws away its disks, its TPM and its firmware's variables; it is off. */
  async discard(): Promise<void> {
    const disks = this.spec.disks.map(({ file }) => file);
    const all = [this.#variables, this.#tpmFolder, ...disks];
    await Promise.all(all.map((path) => rm(path, { recursive: true, force: true })));
  }

  /** What a start did not come to use is taken back at the next. */
  async #setVariables(): Promise<void> {
    const url = this.#nextUrl;
    if (url === undefined && !this.#hadUrl) return;
    await writeFile(this.#variables, bootNextFrom(await readFile(this.#variables), url));
    this.#hadUrl = url !== undefined;
    this.#nextUrl = undefined;
  }

  #starts(): void {
    for (const listener of this.#listeners) listener();
  }

  async #order(give: (qmp: Qmp) => Promise<void>): Promise<void> {
    if (this.#running === undefined) throw new Fault("Unavailable", `machine ${this.spec.name}`, "it is off");
    await give(this.#running.qmp);
  }

  /** What a machine that is off is given with its next start. */
  async #whileOn(give: (qmp: Qmp) => Promise<void>): Promise<void> {
    const running = this.#running;
    await running?.qmp.ready
      .then(() => give(running.qmp))
      .catch((error: unknown) => {
        // It ended meanwhile.
        if (!isFault(error, "Unavailable")) throw error;
      });
  }

  /** Switches it off for good: a restart that a management controller has half done does not bring it back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.powerOff();
    await this.console.close();
  }
}
