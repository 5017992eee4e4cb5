/** What files import, types included, and the graph of it. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const PACKAGE = /^@slipway\/[a-z]+(\/.*)?$/;
const IMPORT =
  /^\s*(?:import|export)\b[^"']*?\bfrom\s+["']([^"']+)["']|^\s*import\s+["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm;

export interface Import {
  line: number;
  /** As it is written. */
  name: string;
}

/** All imports of a file's text, in order; `import()` included. */
export function importsOf(text: string): Import[] {
  return [...text.matchAll(IMPORT)].map((match) => ({
    line: text.slice(0, match.index).split("\n").length,
    name: (match[1] ?? match[2] ?? match[3])!,
  }));
}

/** The files behind the entry points of the packages below `root`, by the name under which they are imported. */
export function entryPoints(root: string): Map<string, string> {
  const entries = new Map<string, string>();
  for (const file of globSync("packages/*/package.json", { cwd: root })) {
    const { name, exports } = JSON.parse(readFileSync(join(root, file), "utf8")) as {
      name: string;
      exports: Record<string, string>;
    };
    for (const [entry, target] of Object.entries(exports))
      entries.set(name + entry.slice(1), join(dirname(file), target));
  }
  return entries;
}

/** The file that an import leads to, relative to the root; undefined for what is not in this tree, or no entry point. */
export function targetOf(file: string, name: string, entries: ReadonlyMap<string, string>): string | undefined {
  if (isPackage(name)) return entries.get(name);
  return name.startsWith(".") ? normalize(join(dirname(file), name)) : undefined;
}

/** Whether an import names one of this tree's packages. */
export function isPackage(name: string): boolean {
  return PACKAGE.test(name);
}
