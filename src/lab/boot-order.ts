import type { MachineSpec } from "./machine.ts";

/** What can be put before a machine's usual order: its card, its first disk, its CD drive. */
export type BootDevice = "network" | "disk" | "cd";

/** The device's id in QEMU. */
export const DEVICE_IDS: Readonly<Record<BootDevice, string>> = { network: "card0", disk: "disk0-device", cd: "cd0" };

/** QEMU's `bootindex`: the lowest is first, two devices may not have the same, and -1 is none. What `-kernel` brings has 0. */
const FIRST = 1;
const NETWORK = 10;
const DISKS = 20;
const NONE = -1;

/**
 * The boot index of each device that has an id here, with `first` before the usual order: the network, then the disks. The CD drive is used
 * only where it is chosen. Pure.
 */
export function bootIndexes({ disks }: Pick<MachineSpec, "disks">, first?: BootDevice): Record<string, number> {
  const usual: [string, number][] = [
    [DEVICE_IDS.network, NETWORK],
    ...disks.map((_, at): [string, number] => [diskId(at), DISKS + at]),
    [DEVICE_IDS.cd, NONE],
  ];
  return Object.fromEntries(usual.map(([id, index]) => [id, first && id === DEVICE_IDS[first] ? FIRST : index]));
}

/** What has to be changed, in this order, for `to` to be first in the place of `from`: no two devices have one index at any time. Pure. */
export function bootChanges(
  machine: Pick<MachineSpec, "disks">,
  from: BootDevice | undefined,
  to: BootDevice | undefined,
): readonly (readonly [id: string, index: number])[] {
  const before = bootIndexes(machine, from);
  const changed = Object.entries(bootIndexes(machine, to)).filter(([id, index]) => before[id] !== index);
  return changed.toSorted(([, a], [, b]) => Number(a === FIRST) - Number(b === FIRST));
}

/** The id of the n-th disk (from 0) as a device. */
export function diskId(at: number): string {
  return `disk${at}-device`;
}
