import type { Installation } from "../installation/installation.ts";
import { reportCommand, shellCommand, shellWord } from "../installation/shell.ts";
import { type Answer, choice, no, text, yes } from "./answers.ts";
import { recipe } from "./recipe.ts";

/** partman's questions: the one disk, all of it, and no question about what stood there before. */
export function partitions(installation: Installation): Answer[] {
  const { disk, layout, firmware } = installation;
  return [
    text("partman/early_command", findDisk(installation)),
    text("partman-auto/disk", disk),
    text("partman-auto/method", layout === "lvm" ? "lvm" : "regular"),
    ...(layout === "lvm"
      ? [text("partman-auto-lvm/guided_size", "max"), text("partman-auto-lvm/new_vg_name", "system")]
      : []),
    text("partman-auto/expert_recipe", recipe(installation)),
    choice("partman-auto/choose_recipe", "slipway"),
    choice("partman-partitioning/choose_label", "gpt"),
    text("partman-partitioning/default_label", "gpt"),
    ...(firmware === "uefi" ? [yes("partman-efi/non_efi_system")] : []),
    // What stood on the disk before is no reason to ask.
    yes("partman-lvm/device_remove_lvm"),
    yes("partman-md/device_remove_md"),
    yes("partman-lvm/confirm"),
    yes("partman-lvm/confirm_nooverwrite"),
    yes("partman-partitioning/confirm_write_new_label"),
    no("partman-basicfilesystems/no_swap"),
    // Where there is no swap partition, Ubuntu's installer would make a file.
    text("partman-swapfile/size", "0"),
    text("partman-swapfile/percentage", "0"),
    choice("partman/choose_partition", "finish"),
    yes("partman/confirm"),
    yes("partman/confirm_nooverwrite"),
    choice("partman/mount_style", "uuid"),
  ];
}

/**
 * partman and GRUB compare kernel names, so a stable name is resolved when all disks have theirs. Without the disk the installer waits: it
 * would take another one.
 */
function findDisk({ disk, report }: Installation): string {
  const test = shellCommand("test", "-b", disk);
  const name = `"$(readlink -f ${shellWord(disk)})"`;
  const failed = report?.failed === undefined ? "" : `${reportCommand(report.failed)}; `;
  return [
    "udevadm settle",
    `if ! ${test}; then ${failed}until ${test}; do sleep 5; done; fi`,
    `debconf-set partman-auto/disk ${name}`,
    `debconf-set grub-installer/bootdev ${name}`,
  ].join("; ");
}
