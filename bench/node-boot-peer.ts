/** The peer of `node-boot.bench.ts`: Debian with systemd and cloud-init as Debian has them, and the node image's own programs of Kubernetes. */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../tools/image/run.ts";

const PACKAGES =
  "systemd-sysv cloud-init netplan.io systemd-resolved openssh-server linux-image-cloud-amd64 dbus conntrack iptables ethtool socat";
const PROGRAMS = ["kubelet", "kubeadm", "containerd", "containerd-shim-runc-v2", "ctr", "runc", "node-net"];

/** As packages of containerd and kubeadm have them. */
const UNITS = {
  "containerd.service": `[Unit]
After=network.target
[Service]
ExecStart=/usr/bin/containerd --log-level warn
Type=notify
Delegate=yes
KillMode=process
[Install]
WantedBy=multi-user.target
`,
  "kubelet.service": `[Unit]
After=network-online.target
Wants=network-online.target
[Service]
Environment=KUBELET=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
ExecStart=/usr/bin/kubelet $KUBELET --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml $KUBELET_KUBEADM_ARGS
Restart=always
RestartSec=10
[Install]
WantedBy=multi-user.target
`,
  "node-net.service": `[Service]
ExecStart=/bin/sh -c 'until [ -e /var/lib/kubelet/pki/kubelet-client-current.pem ]; do sleep 0.2; done; exec node-net'
[Install]
WantedBy=multi-user.target
`,
} as const;

export interface PeerImage {
  kernel: string;
  initrd: string;
  disk: string;
}

/** Makes it in this folder, unless it is there. `squashfs`: the node image's files. Needs root, mmdebstrap, squashfs-tools, e2fsprogs and Debian's packages. */
export function debianPeer(folder: string, squashfs: string): PeerImage {
  const image = { kernel: join(folder, "vmlinuz"), initrd: join(folder, "initrd"), disk: join(folder, "disk.img") };
  if (existsSync(image.disk)) return image;
  const work = mkdtempSync(join(tmpdir(), "slipway-peer-"));
  try {
    const [root, node] = [join(work, "root"), join(work, "node")];
    run("mmdebstrap", ["--quiet", "--variant=important", `--include=${PACKAGES.replaceAll(" ", ",")}`, "trixie", root]);
    run("unsquashfs", ["-quiet", "-no-progress", "-dest", node, squashfs]);
    addNode(root, node);
    mkdirSync(folder, { recursive: true });
    for (const [pattern, to] of [
      ["vmlinuz-*", image.kernel],
      ["initrd.img-*", image.initrd],
    ] as const)
      copyFileSync(globSync(join(root, "boot", pattern))[0]!, to);
    const disk = `${image.disk}.new`;
    writeFileSync(disk, "");
    truncateSync(disk, 3 * 1024 ** 3);
    run("mkfs.ext4", ["-q", "-L", "root", "-d", root, disk]);
    renameSync(disk, image.disk);
    return image;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Programs, settings, images and units of the node, where they lie in the node image. */
function addNode(root: string, node: string): void {
  for (const program of PROGRAMS) {
    const [found] = globSync(join(node, "usr/*bin", program));
    copyFileSync(found!, join(root, "usr/bin", program));
    chmodSync(join(root, "usr/bin", program), 0o755);
  }
  for (const path of ["opt/cni", "etc/containerd"]) cpSync(join(node, path), join(root, path), { recursive: true });
  copyFileSync(join(node, "etc/sysctl.conf"), join(root, "etc/sysctl.d/90-node.conf"));
  writeFileSync(join(root, "etc/modules-load.d/node.conf"), "overlay\nbr_netfilter\n");
  writeFileSync(join(root, "etc/fstab"), "LABEL=root / ext4 defaults 0 1\n");
  // The images that the node brings along name their layers by this path.
  const images = "usr/share/slipway";
  run("mkdir", ["-p", join(root, "mnt/image", images), join(root, "var/lib/containerd")]);
  run("cp", ["-a", `${join(node, images)}/.`, join(root, "mnt/image", images)]);
  run("cp", ["-a", `${join(node, images, "store")}/.`, join(root, "var/lib/containerd")]);
  const wanted = join(root, "etc/systemd/system/multi-user.target.wants");
  mkdirSync(wanted, { recursive: true });
  for (const [name, text] of Object.entries(UNITS)) {
    writeFileSync(join(root, "etc/systemd/system", name), text);
    symlinkSync(`../${name}`, join(wanted, name));
  }
}
