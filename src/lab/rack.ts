import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Bridge } from "./bridge.ts";
import { type Firmware, type Loader, labMac, labUuid, type MachineSpec } from "./machine.ts";
import { QemuMachine } from "./qemu-machine.ts";

/** Our own address in the lab's network; machines get theirs from us. */
export const LAB = {
  bridge: "lab0",
  address: "10.77.0.1",
  prefix: 24,
  network: "10.77.0.0/24",
  first: "10.77.0.50",
  last: "10.77.0.250",
};

export interface MachinePlan {
  name: string;
  firmware: Firmware;
  memoryMiB: number;
  processors?: number;
  /** One disk of this size. */
  diskBytes: number;
  hasTpm?: boolean;
  loader?: Loader;
}

/** `count` machines called `lab-1` and on, with each firmware in turn. Pure. */
export function planMachines(
  count: number,
  firmwares: readonly Firmware[],
  size: Pick<MachinePlan, "memoryMiB" | "diskBytes" | "hasTpm" | "processors">,
): MachinePlan[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `lab-${at + 1}`,
    firmware: firmwares[at % firmwares.length]!,
    ...size,
  }));
}

/** The n-th machine (from 1) as QEMU makes it. Those with UEFI have NVMe, since only such firmware boots from it. Pure. */
export function specOf(plan: MachinePlan, n: number, folder: string): MachineSpec {
  const bus = plan.firmware === "bios" || plan.firmware === "arm64" ? "virtio" : "nvme";
  return {
    name: plan.name,
    firmware: plan.firmware,
    memoryMiB: plan.memoryMiB,
    mac: labMac(n),
    uuid: labUuid(n),
    disks: [{ file: join(folder, "disk.img"), bus, serial: `SLIPWAY${n}` }],
    ...(plan.processors !== undefined && { processors: plan.processors }),
    ...(plan.hasTpm !== undefined && { hasTpm: plan.hasTpm }),
    ...(plan.loader !== undefined && { loader: plan.loader }),
  };
}

/**
 * New machines in a network of their own, switched off. `folder` gets a folder for each, with its disk, its firmware's variables and
 * its console, in the place of what an earlier rack left there. To be called in a network namespace made for it; the caller closes the rack.
 */
export async function setUpRack(folder: string, plans: readonly MachinePlan[]): Promise<Rack> {
  const bridge = await Bridge.create(LAB.bridge, `${LAB.address}/${LAB.prefix}`);
  const machines: QemuMachine[] = [];
  for (const [at, plan] of plans.entries()) {
    const own = join(folder, plan.name);
    await rm(own, { recursive: true, force: true });
    await mkdir(own, { recursive: true, mode: 0o700 });
    const spec = specOf(plan, at + 1, own);
    for (const { file } of spec.disks) await blankDisk(file, plan.diskBytes);
    machines.push(await QemuMachine.create(spec, { tap: await bridge.plug(plan.name), folder: own }));
  }
  return new Rack(machines, bridge);
}

/** The machines of a rack and the network that they are plugged into. */
export class Rack {
  readonly machines: readonly QemuMachine[];

  readonly #bridge: Bridge;

  constructor(machines: readonly QemuMachine[], bridge: Bridge) {
    this.machines = machines;
    this.#bridge = bridge;
  }

  async powerOn(): Promise<void> {
    await Promise.all(this.machines.map((machine) => machine.powerOn()));
  }

  /** Switches all of them off, and takes the network, their disks and their firmware's variables away. What their consoles said stays. */
  async close(): Promise<void> {
    await Promise.all(this.machines.map((machine) => machine.close()));
    await this.#bridge.remove();
    for (const machine of this.machines) await machine.discard();
  }
}

/** A disk of this size that takes no room before something is written. */
async function blankDisk(file: string, bytes: number): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.truncate(bytes);
  } finally {
    await handle.close();
  }
}
