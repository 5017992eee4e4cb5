/** cloud-init and its Python, as files that are laid over the node's: `cloud-init.squashfs` beside them on a disk. */
import { chmodSync, cpSync, globSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { NodeArchitecture } from "../../test/kubernetes/assets/node-binaries.ts";
import { run } from "../image/run.ts";
import { pack } from "./build.ts";
import { leaveOut, unpackTree } from "./tree.ts";

export const LAYER = "cloud-init.squashfs";
const OURS = join(import.meta.dirname, "cloud-init");
/** The loader of programs, for the machine that makes the image, and where Debian has libraries. */
const LOADERS: Readonly<Record<NodeArchitecture, { arch: NodeJS.Architecture; loader: string; libraries: string }>> = {
  amd64: { arch: "x64", loader: "usr/lib64/ld-linux-x86-64.so.2", libraries: "usr/lib/x86_64-linux-gnu" },
  arm64: { arch: "arm64", loader: "usr/lib/ld-linux-aarch64.so.1", libraries: "usr/lib/aarch64-linux-gnu" },
};

export interface LayerIngredients {
  architecture: NodeArchitecture;
  /** Files of the packages that are on the node already; Python is run with them to compile. */
  base: readonly string[];
  /** Files of the packages that the layer adds. */
  packages: readonly string[];
  /** A folder for what is put together; made anew, and gone at the end. */
  work: string;
  say(text: string): void;
}

/** Writes the layer into a folder. The same packages give the same bytes. Throws when a program that it runs fails. */
export function writeLayer(folder: string, { architecture, base, packages, work, say }: LayerIngredients): void {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  try {
    const root = join(work, "root");
    unpackTree(root, packages);
    rmSync(join(root, "etc/cloud/cloud.cfg"));
    cpSync(OURS, root, { recursive: true });
    leaveOut(root);
    // Who unpacks without root's rights loses this bit.
    chmodSync(join(root, "usr/bin/sudo"), 0o4755);
    // The node asks for its address itself, and starts its services without these.
    for (const path of ["etc/cron.daily", "etc/init.d", "usr/sbin/dhcpcd"])
      rmSync(join(root, path), { recursive: true, force: true });
    compile(root, join(work, "base"), { architecture, base, say });
    pack(root, join(folder, LAYER));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Python's code as Python would compile it at its first start: by the layer's own Python, with the node's libraries. Another architecture's can't be run here; its machines compile at every start.
 */
function compile(
  root: string,
  node: string,
  { architecture, base, say }: Pick<LayerIngredients, "architecture" | "base" | "say">,
): void {
  const { arch, loader, libraries } = LOADERS[architecture];
  if (process.arch !== arch) {
    say(`Python for ${architecture} does not run here: cloud-init is compiled anew at every start of a machine`);
    return;
  }
  unpackTree(node, base);
  const [python] = globSync(join(root, "usr/bin/python3.[0-9]*"));
  const libraryPath = [join(node, libraries), join(root, libraries)].join(":");
  // Not by time: files have none here.
  const how = ["-m", "compileall", "-q", "-j", "1", "--invalidation-mode", "unchecked-hash", "-s", root, "-p", "/"];
  const code = globSync(join(root, "usr/lib/python3*"));
  run(join(node, loader), ["--library-path", libraryPath, python!, ...how, ...code], {
    env: { ...process.env, PYTHONHOME: join(root, "usr"), PYTHONHASHSEED: "0" },
  });
}
