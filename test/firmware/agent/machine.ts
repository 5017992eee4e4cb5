import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assetsFolder } from "../../../src/netboot/agent/assets-folder.ts";

export const MAC = "52:54:00:ab:00:01";
export const DISK_BYTES = 160 << 20;
const DISKS = ["virtio", "nvme", "sata"] as const;
export type Disk = (typeof DISKS)[number];

const DEVICES: Readonly<Record<Disk, readonly string[]>> = {
  virtio: ["-device", "virtio-blk-pci,drive=virtio,serial=VD01"],
  nvme: ["-device", "nvme,drive=nvme,serial=NV01"],
  sata: ["-device", "ahci,id=ahci", "-device", "ide-hd,drive=sata,serial=SA01,bus=ahci.0"],
};

const BOARDS = {
  x86_64: ["qemu-system-x86_64", "-machine", "q35"],
  aarch64: ["qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a72"],
} as const;

const CONSOLES = { x86_64: "ttyS0", aarch64: "ttyAMA0" } as const;

/** Where the agent for such machines is, and why a test of it is to be skipped. `needs`: a file of each Debian package. */
export function agentOf(
  architecture: keyof typeof BOARDS,
  needs: Readonly<Record<string, string>>,
): { assets: string; skip: string | false } {
  const assets = join(assetsFolder(process.env), "agent", architecture);
  const lacking = Object.entries(needs).flatMap(([name, file]) => (existsSync(file) ? [] : [name]));
  if (lacking.length > 0) return { assets, skip: `not installed: ${lacking.join(" ")}` };
  return { assets, skip: !existsSync(join(assets, "keys")) && "no agent: run make agent" };
}

/** A machine whose kernel QEMU starts, without firmware, in a network of QEMU's own, with a disk of each kind. */
export class DirectMachine {
  readonly folder: string;
  readonly #process: ChildProcess;
  readonly #gone: Promise<unknown>;

  /** `folder`: of the agent's kernel and initramfs. `words`: what its command line has beside the console. `diskBytes`: of each disk. */
  constructor(
    architecture: keyof typeof BOARDS,
    folder: string,
    words: readonly string[],
    { diskBytes = DISK_BYTES }: { diskBytes?: number } = {},
  ) {
    this.folder = mkdtempSync(join(tmpdir(), "slipway-agent-"));
    for (const disk of DISKS) {
      writeFileSync(this.disk(disk), "");
      truncateSync(this.disk(disk), diskBytes);
    }
    const [program, ...board] = BOARDS[architecture];
    // One thread for both processors: with several, a kernel was seen to stand still while it looked at the PCI bus.
    const output = openSync(join(this.folder, "console"), "w");
    this.#process = spawn(
      "setpriv",
      [
        ...["--pdeathsig", "KILL", "--", program, ...board, "-accel", "tcg,thread=single"],
        ...["-smp", "2", "-m", "1024", "-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio"],
        ...["-kernel", join(folder, "vmlinuz"), "-initrd", join(folder, "initrd")],
        ...["-append", [`console=${CONSOLES[architecture]}`, ...words].join(" ")],
        ...["-netdev", "user,id=net", "-device", `virtio-net-pci,netdev=net,mac=${MAC},romfile=`],
        ...DISKS.flatMap((disk) => [
          // No flush reaches the host's disk: beside other work that takes longer than the 30 s after which Linux gives a SATA command up.
          ...["-drive", `if=none,id=${disk},format=raw,cache=unsafe,discard=unmap,file=${this.disk(disk)}`],
          ...DEVICES[disk],
        ]),
      ],
      { stdio: ["ignore", output, output] },
    );
    this.#gone = once(this.#process, "close");
  }

  disk(disk: Disk): string {
    return join(this.folder, `${disk}.img`);
  }

  console(): string {
    return readFileSync(join(this.folder, "console"), "latin1");
  }

  /** Resolves when the machine has switched itself off. */
  async off(seconds: number): Promise<void> {
    const late = AbortSignal.timeout(seconds * 1000);
    await Promise.race([
      this.#gone,
      once(late, "abort").then(() => Promise.reject(new Error(`it is still on after ${seconds} s`))),
    ]);
  }

  async close(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#gone;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
