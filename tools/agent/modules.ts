import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Fault } from "@slipway/base";
import type { Entry } from "../../src/netboot/agent/cpio.ts";
import { run } from "../image/run.ts";
import { FIRST, LATER, LEFT, TAKEN } from "./drivers.ts";
import { type ModuleInfo, moduleName, readModuleInfo } from "./modinfo.ts";
import type { Architecture } from "./packages.ts";

export interface Module extends ModuleInfo {
  /** Below the release's folder: `kernel/drivers/…/x.ko.xz`. */
  path: string;
  /** As it is packed. */
  content: Buffer;
}

export interface Drivers {
  entries: Map<string, Entry>;
  /** How many modules. */
  count: number;
  /** Files that they may ask for, below /lib/firmware. */
  firmware: readonly string[];
}

/**
 * The kernel's modules that the agent takes, each packed as Debian packs it (a machine unpacks those alone that it needs), and the lists
 * by which `modprobe` finds them: first those that reach the network, with lists of them alone, then the others, with lists of all.
 * `unpacked`: folder of the kernel's package; modules are unpacked there.
 */
export function driversOf(architecture: Architecture, unpacked: string): { first: Drivers; rest: Drivers } {
  const [releaseFolder] = globSync(join(unpacked, "usr/lib/modules/*"));
  if (releaseFolder === undefined)
    throw new Fault("NotFound", unpacked, "there are no modules in the kernel's package");
  const everything = withDependencies(releaseFolder, isTaken);
  const first = withNeeds(
    [...everything.values()].filter(({ path }) => under(path, FIRST[architecture]) && !under(path, LATER)),
    everything,
  );
  const others = new Map([...everything].filter(([name]) => !first.has(name)));
  return { first: pack(releaseFolder, first, first), rest: pack(releaseFolder, others, everything) };
}

/** `modules` themselves, and the lists of all that is `known`. */
function pack(
  releaseFolder: string,
  modules: ReadonlyMap<string, Module>,
  known: ReadonlyMap<string, Module>,
): Drivers {
  const entries = new Map<string, Entry>();
  const add = (name: string, content: Buffer): void => {
    entries.set(`lib/modules/${basename(releaseFolder)}/${name}`, { is: "file", content, executable: false });
  };
  for (const { path, content } of modules.values()) add(path, content);
  const sorted = [...known.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  add("modules.dep", Buffer.from(sorted.map((module) => `${module.path}: ${before(module, known)}\n`).join("")));
  const aliases = sorted.flatMap(({ aliases, name }) => aliases.map((alias) => `alias ${alias} ${name}\n`));
  add("modules.alias", Buffer.from(aliases.join("")));
  add("modules.builtin", readFileSync(join(releaseFolder, "modules.builtin")));
  return { entries, count: modules.size, firmware: [...modules.values()].flatMap(({ firmware }) => firmware) };
}

/** The modules whose path below the release's folder is taken, and all that they depend on, by name. They are unpacked there. */
export function withDependencies(releaseFolder: string, isTaken: (path: string) => boolean): Map<string, Module> {
  const all = new Map(
    globSync("kernel/**/*.ko*", { cwd: releaseFolder }).map((path) => [
      moduleName(path.replace(/^.*\/|\.ko.*$/g, "")),
      path,
    ]),
  );
  const builtin = new Set(
    readFileSync(join(releaseFolder, "modules.builtin"), "utf8")
      .split("\n")
      .map((path) => moduleName(path.replace(/^.*\/|\.ko.*$/g, ""))),
  );
  const chosen = new Map<string, Module>();
  let wanted = [...all].filter(([, path]) => isTaken(path)).map(([name]) => name);
  while (wanted.length > 0) {
    const paths = wanted.map((name) => all.get(name)).filter((path) => path !== undefined);
    unpack(paths.filter((path) => path.endsWith(".xz")).map((path) => join(releaseFolder, path)));
    for (const path of paths) {
      const plain = path.replace(/\.xz$/, "");
      const info = readModuleInfo(readFileSync(join(releaseFolder, plain)), basename(plain, ".ko"));
      chosen.set(info.name, { ...info, path, content: readFileSync(join(releaseFolder, path)) });
    }
    const needed = [...chosen.values()].flatMap(({ depends, softDepends }) => [
      ...depends,
      // A module may ask for one that this kernel does not have, and do without.
      ...softDepends.filter((name) => all.has(name)),
    ]);
    wanted = [...new Set(needed)].filter((name) => !chosen.has(name) && !builtin.has(name));
    const lost = wanted.find((name) => !all.has(name));
    if (lost !== undefined) throw new Fault("NotFound", lost, "a kernel module needs it, and it is not in the package");
  }
  return chosen;
}

/** Of all modules these, and what they need. */
function withNeeds(these: readonly Module[], all: ReadonlyMap<string, Module>): Map<string, Module> {
  const found = new Set(these);
  // Iteration goes on with what is added on the way.
  for (const { depends, softDepends } of found)
    for (const name of [...depends, ...softDepends]) {
      const needed = all.get(name);
      if (needed !== undefined) found.add(needed);
    }
  return new Map([...found].map((module) => [module.name, module]));
}

/** Whether a module's path is one of these folders' or modules', as drivers.ts names them. */
export const under = (path: string, folders: readonly string[]): boolean =>
  folders.some((folder) => path.startsWith(`kernel/${folder}/`) || path.startsWith(`kernel/${folder}.ko`));

/** Whether the agent has this module, what others depend on aside. */
export const isTaken = (path: string): boolean => under(path, TAKEN) && !under(path, LEFT);

/** In one go: hundreds of programs would take longer than the work. */
function unpack(files: readonly string[]): void {
  if (files.length > 0) run("xz", ["--decompress", "--keep", "--force", ...files]);
}

/** Paths of all that must be loaded before a module, nearest first, as `depmod` lists them. */
function before(module: Module, modules: ReadonlyMap<string, Module>): string {
  const paths = new Set<string>();
  const visit = ({ depends, softDepends }: Module): void => {
    for (const next of [...depends, ...softDepends].map((name) => modules.get(name)))
      if (next !== undefined) {
        // The one that was named last must be loaded first.
        paths.delete(next.path);
        paths.add(next.path);
        visit(next);
      }
  };
  visit(module);
  return [...paths].join(" ");
}
