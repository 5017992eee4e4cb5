/** What a node is made of: Debian's packages, the kernel's modules, and the images that it brings along. */

/** Whole packages, with what they depend on. */
export const PACKAGES: readonly string[] = [
  "bash",
  "busybox-static",
  "ca-certificates",
  "conntrack",
  "containernetworking-plugins",
  "dash",
  // SSH for the users of the bootstrap data.
  "dropbear-bin",
  "e2fsprogs",
  "ethtool",
  "iproute2",
  "iptables",
  "kmod",
  "mount",
  "runc",
  "socat",
  "util-linux",
];

/** What is laid over them where cloud-init is wanted: it makes users with passwd's programs, and lets them become root with sudo. */
export const CLOUD_INIT: readonly string[] = ["cloud-init", "passwd", "sudo"];

/** What of them no node needs: paths, and folders with all below. Copyrights stay. */
export const LEFT: readonly string[] = [
  "usr/lib/cni",
  "usr/lib/dpkg",
  "usr/lib/systemd",
  "usr/lib/x86_64-linux-gnu/perl-base",
  "usr/lib/aarch64-linux-gnu/perl-base",
  "usr/bin/perl",
  "usr/share/bash-completion",
  "usr/share/bug",
  "usr/share/debconf",
  "usr/share/doc-base",
  "usr/share/i18n",
  "usr/share/info",
  "usr/share/lintian",
  "usr/share/locale",
  "usr/share/man",
  "usr/share/menu",
  "usr/share/perl5",
  "usr/share/zoneinfo",
];

/** Of the kernel, beside what the agent has for disks and cards; `tools/agent/drivers.ts` says how they are named. */
export const MODULES: readonly string[] = [
  // Checksums and the like, which others ask for by what they do, not by name.
  ...["arch/x86/crypto/crc32c", "crypto"],
  ...["drivers/block/loop", "drivers/cdrom", "drivers/md", "drivers/net", "drivers/scsi/sr_mod", "drivers/vhost"],
  ...["fs/ext4", "fs/fuse", "fs/isofs", "fs/nfs", "fs/overlayfs", "fs/squashfs", "fs/xfs"],
  ...[
    "net/802",
    "net/8021q",
    "net/bridge",
    "net/ipv4",
    "net/ipv6",
    "net/ipip",
    "net/llc",
    "net/netfilter",
    "net/sched",
  ],
  ...["net/vmw_vsock", "net/xfrm"],
];

/** Of `MODULES`, not: kinds of networks that no server is on. */
export const MODULES_LEFT: readonly string[] = [
  ...[
    "arcnet",
    "can",
    "dsa",
    "fddi",
    "fjes",
    "hamradio",
    "ieee802154",
    "plip",
    "ppp",
    "slip",
    "thunderbolt",
    "usb",
  ].map((name) => `drivers/net/${name}`),
  ...["wan", "wireless", "wwan"].map((name) => `drivers/net/${name}`),
];

/** Loaded by the initramfs before the node's files are there, in any order: what they depend on is loaded before them. */
export const FIRST_MODULES: readonly string[] = ["loop", "squashfs", "overlay"];

/** Of the partition that a disk with the node image boots from. */
export const DISK_LABEL = "SLIPWAYNODE";

/** containerd's own choice; its configuration (`root/etc/containerd`) names it, too. */
export const PAUSE = "registry.k8s.io/pause:3.10.2";

/** konnectivity's agent, by the version that it is built from (test/kubernetes/assets/konnectivity). */
export const PROXY_AGENT = "registry.k8s.io/kas-network-proxy/proxy-agent:v0.36.0";

/** iptables as kube-proxy's image has it: Debian's packages, and the links that alternatives would be. */
export const IPTABLES: readonly string[] = [
  "iptables",
  "iptables-restore",
  "iptables-save",
  "ip6tables",
  "ip6tables-restore",
  "ip6tables-save",
];
