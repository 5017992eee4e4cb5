import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Entry, packCpio } from "../../src/netboot/agent/cpio.ts";
import type { NodeArchitecture, NodeProgram } from "../../test/kubernetes/assets/node-binaries.ts";
import { firmwareEntries } from "../agent/firmware.ts";
import { run } from "../image/run.ts";
import { addImages } from "./images.ts";
import { addKernel } from "./kernel.ts";
import { addProgram, finishTree, unpackTree } from "./tree.ts";

const OURS = import.meta.dirname;

export interface Ingredients {
  architecture: NodeArchitecture;
  /** Of Kubernetes, without `v`. */
  version: string;
  /** Files of Debian's packages. */
  kernel: readonly string[];
  packages: readonly string[];
  firmware: readonly string[];
  /** The file of a program that was built from Go modules. */
  program(name: NodeProgram): string;
  /** The program that writes containerd's store of images, on this machine. */
  imageStore: string;
  /** A folder for what is put together; made anew, and gone at the end. */
  work: string;
  say(text: string): void;
}

/** On the node: where a program lies. Those that are missing come in images alone. */
const PLACES: Readonly<Partial<Record<NodeProgram, string>>> = {
  "bootstrap-data": "usr/bin/bootstrap-data",
  "node-net": "usr/bin/node-net",
  kubelet: "usr/bin/kubelet",
  kubeadm: "usr/bin/kubeadm",
  containerd: "usr/bin/containerd",
  "containerd-shim-runc-v2": "usr/bin/containerd-shim-runc-v2",
  ctr: "usr/bin/ctr",
};

/** Writes `vmlinuz`, `initrd`, `initrd.disk` and `root.squashfs` of the live image into a folder. The same packages and programs give the same bytes. */
export async function build(folder: string, ingredients: Ingredients): Promise<void> {
  const { architecture, version, program, imageStore, work, say } = ingredients;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  try {
    const root = join(work, "root");
    say(`unpacking ${ingredients.packages.length} packages`);
    unpackTree(root, ingredients.packages);
    finishTree(root, { version });
    for (const [name, place] of Object.entries(PLACES)) addProgram(root, program(name as NodeProgram), place);
    unpackTree(join(work, "kernel"), ingredients.kernel);
    const { vmlinuz, first, cards, disks, firmware } = addKernel(architecture, join(work, "kernel"), root);
    unpackFirmware(join(work, "firmware"), ingredients.firmware);
    addFirmware(root, firmwareEntries(firmware, join(work, "firmware")));
    say("writing images");
    await addImages({ architecture, version, root, work, program, imageStore });
    say("packing");
    mkdirSync(folder, { recursive: true });
    const packed = join(folder, "root.squashfs");
    pack(root, packed);
    const files = [...first, ...cards.entries, ...firmwareEntries(cards.firmware, join(work, "firmware"))];
    const pieces = { root, fetch: program("fetch"), squashfs: readFileSync(packed) };
    const initrd = packCpio(initramfs(pieces, new Map(files)));
    writeFileSync(join(folder, "vmlinuz"), vmlinuz);
    writeFileSync(join(folder, "initrd"), initrd);
    // Disks' drivers bring lists of all.
    writeFileSync(join(folder, "initrd.disk"), packCpio(initramfs(pieces, new Map([...files, ...disks.entries]))));
    const sizes = { kernel: vmlinuz.length, initramfs: initrd.length, "the rest": statSync(packed).size };
    say(
      Object.entries(sizes)
        .map(([name, size]) => `${name} ${(size / 1e6).toFixed(1)} MB`)
        .join(", "),
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function unpackFirmware(folder: string, debs: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  for (const deb of debs) run("dpkg-deb", ["--extract", deb, folder]);
}

function addFirmware(root: string, files: ReadonlyMap<string, Entry>): void {
  for (const [path, entry] of files) {
    if (entry.is !== "file") continue;
    mkdirSync(join(root, "usr", dirname(path)), { recursive: true });
    writeFileSync(join(root, "usr", path), entry.content);
  }
}

/** One owner, no times: what is packed depends on names, modes and contents alone. Throws when mksquashfs fails. */
export function pack(root: string, file: string): void {
  const alike = ["-all-root", "-all-time", "0", "-mkfs-time", "0", "-no-xattrs", "-no-exports"];
  run("mksquashfs", [
    root,
    file,
    "-noappend",
    "-no-progress",
    "-quiet",
    "-comp",
    "zstd",
    "-Xcompression-level",
    "3",
    "-b",
    "128K",
    ...alike,
  ]);
}

/** What the boot loader fetches: as much as reaches the network, where the rest comes from, and how that is known. Not packed: what is large in it already is. */
function initramfs(
  { root, fetch, squashfs }: { root: string; fetch: string; squashfs: Buffer },
  drivers: ReadonlyMap<string, Entry>,
): Map<string, Entry> {
  const text = (content: string): Entry => ({ is: "file", content: Buffer.from(content), executable: false });
  const program = (from: string): Entry => ({ is: "file", content: readFileSync(from), executable: true });
  const shared = ["say.sh", "drivers", "network", "dhcp"].map((name) => `usr/lib/slipway/${name}`);
  return new Map<string, Entry>([
    ...["dev", "disk", "etc", "layers", "memory", "node", "packed", "proc", "run", "sys", "tmp"].map(
      (name) => [name, { is: "folder" }] as const,
    ),
    // The kernel opens it for the first process before anything is mounted.
    ["dev/console", { is: "device", major: 5, minor: 1 }],
    ["bin/busybox", program(join(root, "usr/bin/busybox"))],
    ["bin/fetch", program(fetch)],
    ["init", program(join(OURS, "initramfs/init"))],
    ...shared.map((path) => [path, program(join(root, path))] as const),
    ...drivers,
    ["root.size", text(`${squashfs.length}\n`)],
    ["root.sha256", text(`${createHash("sha256").update(squashfs).digest("hex")}\n`)],
  ]);
}
