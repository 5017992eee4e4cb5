/** What the agent is made of: Debian's packages, and which of their files are taken. */

/** Debian's names. */
export type Architecture = "amd64" | "arm64";

interface Target {
  /** As `uname -m` says; a folder of the assets bears this name. */
  machine: "x86_64" | "aarch64";
  /** Folder of shared libraries. */
  triplet: string;
  loader: string;
  /** The package that leads to the signed kernel with all drivers. */
  kernel: string;
  /** What firmware loads, by the name it asks for: package, and path within it. */
  boot: Readonly<Record<string, readonly [string, string]>>;
}

export const TARGETS: Readonly<Record<Architecture, Target>> = {
  amd64: {
    machine: "x86_64",
    triplet: "x86_64-linux-gnu",
    loader: "/lib64/ld-linux-x86-64.so.2",
    kernel: "linux-image-amd64",
    boot: {
      "shimx64.efi": ["shim-signed", "usr/lib/shim/shimx64.efi.signed"],
      "grubx64.efi": ["grub-efi-amd64-signed", "usr/lib/grub/x86_64-efi-signed/grubnetx64.efi.signed"],
      "undionly.kpxe": ["ipxe", "usr/lib/ipxe/undionly.kpxe"],
      "ipxe.efi": ["ipxe", "usr/lib/ipxe/ipxe-amd64.efi"],
      "snponly.efi": ["ipxe", "usr/lib/ipxe/snponly.efi"],
    },
  },
  arm64: {
    machine: "aarch64",
    triplet: "aarch64-linux-gnu",
    loader: "/lib/ld-linux-aarch64.so.1",
    kernel: "linux-image-arm64",
    boot: {
      "shimaa64.efi": ["shim-signed", "usr/lib/shim/shimaa64.efi.signed"],
      "grubaa64.efi": ["grub-efi-arm64-signed", "usr/lib/grub/arm64-efi-signed/grubnetaa64.efi.signed"],
      "ipxe-arm64.efi": ["ipxe", "usr/lib/ipxe/ipxe-arm64.efi"],
    },
  },
};

/** Programs of the agent's Linux besides busybox: package, and the files that are taken. The libraries they need follow by themselves. */
export const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  age: ["usr/bin/age", "usr/bin/age-keygen"],
  "busybox-static": ["usr/bin/busybox"],
  "ca-certificates": [],
  // Its own are faster than busybox's, and dd counts what it wrote.
  coreutils: ["usr/bin/dd", "usr/bin/md5sum", "usr/bin/sha256sum", "usr/bin/sha512sum", "usr/bin/tee"],
  curl: ["usr/bin/curl"],
  // busybox's own shell takes busybox's programs, whatever the path says.
  dash: ["usr/bin/dash"],
  diffutils: ["usr/bin/cmp"],
  fdisk: ["usr/sbin/sfdisk"],
  hdparm: ["usr/sbin/hdparm"],
  ipmitool: ["usr/bin/ipmitool"],
  jq: ["usr/bin/jq"],
  "kexec-tools": ["usr/sbin/kexec"],
  "nvme-cli": ["usr/sbin/nvme"],
  "util-linux": ["usr/sbin/blkdiscard", "usr/sbin/blkid", "usr/sbin/wipefs"],
  zstd: ["usr/bin/zstd"],
};

/** Of these, what the first part of the agent is made of: it reaches the network, and unpacks the rest. */
export const FIRST_PROGRAMS: ReadonlySet<string> = new Set(["usr/bin/busybox", "usr/bin/dash", "usr/bin/zstd"]);

/** What the agent fetches last, once it has reported the hardware; a quarter of all its programs are ipmitool and its libraries. */
export const KEY_PROGRAMS: ReadonlySet<string> = new Set(["usr/bin/age", "usr/bin/age-keygen", "usr/bin/ipmitool"]);

/**
 * Firmware without which network cards and host adapters that are common in servers do nothing. Of these packages only the files
 * that the chosen drivers ask for are taken. Debian keeps them apart, since their sources are not free.
 */
export const FIRMWARE: readonly string[] = [
  "firmware-bnx2",
  "firmware-bnx2x",
  "firmware-intel-misc",
  "firmware-misc-nonfree",
  "firmware-qlogic",
  "firmware-realtek",
];
