/**
 * Partitions as partman's recipe (partman-auto-recipe.txt of debian-installer): for each a least size, a priority and a most size in
 * megabytes, a file system, and what to do with it, ended by a full stop.
 */
import type { Installation } from "../installation/installation.ts";

interface Partition {
  /** In megabytes. Most: -1 for all there is. */
  least: number;
  priority: number;
  most: number;
  fileSystem: "free" | "ext4" | "linux-swap";
  words: readonly string[];
}

const EFI: Partition = {
  least: 538,
  priority: 538,
  most: 1075,
  fileSystem: "free",
  words: ["$iflabel{ gpt }", "$reusemethod{ }", "method{ efi }", "format{ }"],
};
/** Where GRUB's core lies on a GPT disk that BIOS boots. */
const BIOS_BOOT: Partition = {
  least: 1,
  priority: 1,
  most: 1,
  fileSystem: "free",
  words: ["$iflabel{ gpt }", "$reusemethod{ }", "method{ biosgrub }"],
};
const LVM = "$lvmok{ }";

/** Partitions for one disk with a GPT: what the firmware boots from, swap where it is wanted, and the root with the rest. */
export function recipe({ firmware, layout, swap }: Pick<Installation, "firmware" | "layout" | "swap">): string {
  const isLvm = layout === "lvm";
  const inVolume = (name: string): string[] => (isLvm ? [LVM, `lv_name{ ${name} }`] : []);
  const partitions = [
    firmware === "uefi" ? EFI : BIOS_BOOT,
    ...(isLvm ? [mounted("/boot", [512, 768, 1024], ["$primary{ }", "$bootable{ }"])] : []),
    ...(swap === "none" ? [] : [swapOf(swap.mebibytes, inVolume("swap"))]),
    mounted("/", [3000, 10_000, -1], inVolume("root")),
  ];
  return ["slipway ::", ...partitions.map(textOf)].join(" ");
}

function mounted(
  at: string,
  [least, priority, most]: readonly [number, number, number],
  words: readonly string[],
): Partition {
  const use = ["method{ format }", "format{ }", "use_filesystem{ }", "filesystem{ ext4 }", `mountpoint{ ${at} }`];
  return { least, priority, most, fileSystem: "ext4", words: [...words, ...use] };
}

function swapOf(mebibytes: number, words: readonly string[]): Partition {
  const megabytes = Math.ceil((mebibytes * 2 ** 20) / 1e6);
  return {
    least: megabytes,
    priority: megabytes,
    most: megabytes,
    fileSystem: "linux-swap",
    words: [...words, "method{ swap }", "format{ }"],
  };
}

function textOf({ least, priority, most, fileSystem, words }: Partition): string {
  return [least, priority, most, fileSystem, ...words, "."].join(" ");
}
