import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Fault } from "../../src/base/fault.ts";
import { run } from "../image/run.ts";
import type { Entry } from "./cpio.ts";
import { LEFT, TAKEN } from "./drivers.ts";
import { type ModuleInfo, moduleName, readModuleInfo } from "./modinfo.ts";

interface Module extends ModuleInfo {
  /** Below the release's folder: `kernel/drivers/…/x.ko`. */
  path: string;
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
 * The kernel's modules that the agent takes, unpacked (they pack better together, and their signatures hold), and the lists by which
 * `modprobe` finds them. `unpacked`: folder of the kernel's package. What is there is changed: modules lose their compression.
 */
export function driversOf(unpacked: string): Drivers {
  const [releaseFolder] = globSync(join(unpacked, "usr/lib/modules/*"));
  if (releaseFolder === undefined)
    throw new Fault("NotFound", unpacked, "there are no modules in the kernel's package");
  const modules = closure(releaseFolder);
  const entries = new Map<string, Entry>();
  const place = (name: string): string => `lib/modules/${basename(releaseFolder)}/${name}`;
  const add = (name: string, content: Buffer): void => {
    entries.set(place(name), { is: "file", content, executable: false });
  };
  for (const { path, content } of modules.values()) add(path, content);
  const sorted = [...modules.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  add("modules.dep", Buffer.from(sorted.map((module) => `${module.path}: ${before(module, modules)}\n`).join("")));
  const aliases = sorted.flatMap(({ aliases, name }) => aliases.map((alias) => `alias ${alias} ${name}\n`));
  add("modules.alias", Buffer.from(aliases.join("")));
  for (const name of ["modules.builtin", "modules.order"]) add(name, readFileSync(join(releaseFolder, name)));
  return { entries, count: modules.size, firmware: sorted.flatMap(({ firmware }) => firmware) };
}

/** What was chosen and all that it depends on, by name. */
function closure(releaseFolder: string): Map<string, Module> {
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
    for (const path of paths.map((path) => path.replace(/\.xz$/, ""))) {
      const content = readFileSync(join(releaseFolder, path));
      const info = readModuleInfo(content, basename(path, ".ko"));
      chosen.set(info.name, { ...info, path, content });
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

const under = (path: string, folders: readonly string[]): boolean =>
  folders.some((folder) => path.startsWith(`kernel/${folder}/`) || path.startsWith(`kernel/${folder}.ko`));

const isTaken = (path: string): boolean => under(path, TAKEN) && !under(path, LEFT);

/** In one go: hundreds of programs would take longer than the work. */
function unpack(files: readonly string[]): void {
  if (files.length > 0) run("xz", ["--decompress", "--force", ...files]);
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
