import type { Installation } from "../installation/installation.ts";
import type { Command } from "./lines.ts";

const BOOT_MEBIBYTES = 1024;
const LEAST_ROOT_MEBIBYTES = 4096;

/** The one disk, all of it. Anaconda ends with an error when it is not there. */
export function partitions({ disk, layout, swap }: Installation): Command[] {
  const onDisk = { ondisk: disk };
  const isLvm = layout === "lvm";
  const root = { fstype: "xfs", size: LEAST_ROOT_MEBIBYTES, grow: true } as const;
  const swapSize = swap === "none" ? undefined : swap.mebibytes;
  return [
    { command: "ignoredisk", options: { "only-use": disk } },
    { command: "zerombr" },
    { command: "clearpart", options: { all: true, initlabel: true, disklabel: "gpt", drives: disk } },
    { command: "bootloader", options: { "boot-drive": disk } },
    // What the firmware boots from.
    { command: "reqpart" },
    { command: "part", options: { fstype: "xfs", size: BOOT_MEBIBYTES, ...onDisk }, words: ["/boot"] },
    ...(isLvm ? volumes() : plain()),
  ];

  function plain(): Command[] {
    return [
      ...(swapSize === undefined ? [] : [{ command: "part", options: { size: swapSize, ...onDisk }, words: ["swap"] }]),
      { command: "part", options: { ...root, ...onDisk }, words: ["/"] },
    ];
  }

  function volumes(): Command[] {
    const inGroup = (name: string) => ({ vgname: "system", name });
    return [
      { command: "part", options: { size: LEAST_ROOT_MEBIBYTES, grow: true, ...onDisk }, words: ["pv.01"] },
      { command: "volgroup", words: ["system", "pv.01"] },
      ...(swapSize === undefined
        ? []
        : [{ command: "logvol", options: { ...inGroup("swap"), size: swapSize }, words: ["swap"] }]),
      { command: "logvol", options: { ...inGroup("root"), ...root }, words: ["/"] },
    ];
  }
}
