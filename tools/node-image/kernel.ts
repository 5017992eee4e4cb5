import { cpSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Fault } from "@slipway/base";
import type { Entry } from "../../src/netboot/agent/cpio.ts";
import type { NodeArchitecture } from "../../test/kubernetes/assets/node-binaries.ts";
import { type Drivers, driversOf, isTaken, type Module, under, withDependencies } from "../agent/modules.ts";
import { run } from "../image/run.ts";
import { FIRST_MODULES, MODULES, MODULES_LEFT } from "./packages.ts";

export interface Kernel {
  /** The kernel itself. */
  vmlinuz: Buffer;
  /** Of the initramfs: modules that are loaded first, and their order. */
  first: Map<string, Entry>;
  /** Of the initramfs, too: what reaches the network. */
  cards: Pick<Drivers, "entries" | "firmware">;
  /** Of a disk's initramfs, beside those: what reaches disks. */
  disks: Pick<Drivers, "entries" | "firmware">;
  /** Files that drivers may ask for, below /lib/firmware. */
  firmware: readonly string[];
}

/** Puts the modules of an unpacked kernel, with the lists by which they are found, into a node's files, and its configuration, which kubeadm looks at. */
export function addKernel(architecture: NodeArchitecture, unpacked: string, root: string): Kernel {
  const [vmlinuz] = globSync(join(unpacked, "boot/vmlinuz-*"));
  const [releaseFolder] = globSync(join(unpacked, "usr/lib/modules/*"));
  if (vmlinuz === undefined || releaseFolder === undefined)
    throw new Fault("NotFound", unpacked, "the kernel's package has no kernel or no modules");
  const release = basename(releaseFolder);
  const modules = withDependencies(
    releaseFolder,
    (path) => isTaken(path) || (under(path, MODULES) && !under(path, MODULES_LEFT)),
  );
  const target = join(root, "usr/lib/modules", release);
  // Unpacked: the node's files are packed as a whole, and by what unpacks faster.
  for (const path of [...modules.values()].map((module) => module.path.replace(/\.xz$/, "")))
    copy(join(releaseFolder, path), join(target, path));
  for (const list of ["modules.builtin", "modules.builtin.modinfo", "modules.order"])
    copy(join(releaseFolder, list), join(target, list));
  run("/usr/sbin/depmod", ["-b", root, release]);
  copy(join(unpacked, `boot/config-${release}`), join(root, `boot/config-${release}`));
  const { first: cards, rest: disks } = driversOf(architecture, unpacked);
  return {
    vmlinuz: readFileSync(vmlinuz),
    first: firstModules(modules),
    ...{ cards, disks },
    firmware: [...modules.values()].flatMap(({ firmware }) => firmware),
  };
}

/** As Debian packs them: the kernel unpacks them itself. */
function firstModules(modules: ReadonlyMap<string, Module>): Map<string, Entry> {
  const order = new Set<string>();
  const visit = (name: string): void => {
    const module = modules.get(name);
    if (module === undefined) return;
    for (const before of [...module.depends, ...module.softDepends]) visit(before);
    order.add(name);
  };
  for (const name of FIRST_MODULES) visit(name);
  const entries = new Map<string, Entry>();
  for (const name of order) {
    const { content } = modules.get(name)!;
    entries.set(`modules/${name}`, { is: "file", content, executable: false });
  }
  const list = [...order].map((name) => `${name}\n`).join("");
  entries.set("modules/order", { is: "file", content: Buffer.from(list), executable: false });
  return entries;
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}
