/** What a user's script starts on a server: an installer that writes the disk, and the system that it leaves there. SIMULATION. */
import type { Firmware, Hardware, Powered } from "../hardware.ts";

/** What lies on a disk that such an installer has written. */
export const INSTALLED = "installed by a script";

export interface GuestMachine {
  readonly name: string;
  readonly macs: readonly string[];
  readonly address: string;
  /** The installer has written the disk, and restarts the machine. */
  installed(): void;
  /** The system has ended by itself. */
  off(): void;
}

/** The hardware that the guest of one server sees, and the switch of what runs on it. */
export class ServerGuest {
  readonly #firmware: Firmware;
  readonly #machine: GuestMachine;
  readonly #hardware: Hardware;
  #running: Powered | undefined;

  constructor(firmware: Firmware, machine: GuestMachine) {
    this.#firmware = firmware;
    this.#machine = machine;
    const { name, macs, address } = machine;
    this.#hardware = {
      ...{ id: `51b00000-0000-4000-8000-${macs[0]!.replaceAll(":", "")}`, hostname: name, serial: name, plan: "own" },
      nics: macs.map((mac, at) => ({ name: `eth${at}`, mac })),
      ...{ publicIp: address, privateIp: address, firmware: "uefi", diskGiB: 447, reachable: () => true },
    };
  }

  /** Runs the script, and what it starts. `settings`: of iPXE, set before. */
  fromScript(url: string, settings: Readonly<Record<string, string>>): void {
    const boot = { scriptUrl: url, userData: "", settings };
    this.#running = this.#firmware.fromNetwork(this.#hardware, boot, ({ stage }) => {
      if (stage === "installed") this.#machine.installed();
      else if (stage === "off") this.#machine.off();
    });
  }

  /** Starts what was installed. */
  fromDisk(): void {
    this.#running = this.#firmware.fromDisk(this.#hardware, () => {});
  }

  /** Starts an installed system, which fetches its bootstrap data from this URL. */
  fromSeed(url: string): void {
    this.#running = this.#firmware.fromSeed?.(this.#hardware, url, () => {});
  }

  /** Starts a kernel that runs in memory. */
  fromKernel(kernel: string, args: string): void {
    this.#running = this.#firmware.fromKernel?.(this.#hardware, kernel, args, () => {});
  }

  /** Cuts its power. */
  off(): void {
    const running = this.#running;
    this.#running = undefined;
    running?.off();
  }
}
