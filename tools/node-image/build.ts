import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/** Writes `vmlinuz` and `initrd` of the live image into a folder. The same packages and programs give the same bytes. */
export async function build(folder: string, ingredients: Ingredients): Promise<void> {
  const { architecture, version, program, work, say } = ingredients;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  try {
    const root = join(work, "root");
    say(`unpacking ${ingredients.packages.length} packages`);
    unpackTree(root, ingredients.packages);
    finishTree(root, { version });
    for (const [name, place] of Object.entries(PLACES)) addProgram(root, program(name as NodeProgram), place);
    unpackTree(join(work, "kernel"), ingredients.kernel);
    const { vmlinuz, first, firmware } = addKernel(join(work, "kernel"), root);
    addFirmware(root, firmware, join(work, "firmware"), ingredients.firmware);
    say("writing images");
    await addImages({ architecture, version, root, work, program });
    say("packing");
    const packed = join(work, "root.squashfs");
    pack(root, packed);
    const initrd = packCpio(initramfs(root, first, readFileSync(packed)));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "vmlinuz"), vmlinuz);
    writeFileSync(join(folder, "initrd"), initrd);
    say(`kernel ${(vmlinuz.length / 1e6).toFixed(1)} MB, initramfs ${(initrd.length / 1e6).toFixed(1)} MB`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function addFirmware(root: string, names: readonly string[], folder: string, debs: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  for (const deb of debs) run("dpkg-deb", ["--extract", deb, folder]);
  for (const [path, entry] of firmwareEntries(names, folder)) {
    if (entry.is !== "file") continue;
    mkdirSync(join(root, "usr", dirname(path)), { recursive: true });
    writeFileSync(join(root, "usr", path), entry.content);
  }
}

/** One owner, no times: what is packed depends on names, modes and contents alone. */
function pack(root: string, file: string): void {
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

/** Not packed: what is large in it already is. */
function initramfs(root: string, modules: ReadonlyMap<string, Entry>, squashfs: Buffer): Map<string, Entry> {
  const file = (from: string): Entry => ({ is: "file", content: readFileSync(from), executable: true });
  return new Map<string, Entry>([
    ...["dev", "memory", "node", "packed", "proc"].map((name) => [name, { is: "folder" }] as const),
    // The kernel opens it for the first process before anything is mounted.
    ["dev/console", { is: "device", major: 5, minor: 1 }],
    ["bin/busybox", file(join(root, "usr/bin/busybox"))],
    ["init", file(join(OURS, "initramfs/init"))],
    ...modules,
    ["root.squashfs", { is: "file", content: squashfs, executable: false }],
  ]);
}
