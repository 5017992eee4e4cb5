/**
 * Checks that imports follow the layers of ARCHITECTURE.md: a file may import its own folder and the folders its
 * layer names. Prints each import that does not, as `file:line`, and ends with 1.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const BASE = ["base"];
const KUBE = [...BASE, "kube"];
const KINDS = [...KUBE, "kinds", "pki"];
const DOING = [...KINDS, "machines", "inventory", "netboot", "bootstrap"];
const SYSTEMS = [...DOING, "systems"];
const OPERATOR = [...SYSTEMS, "operator", "console"];

/** What each folder of src/ may import. Production code never imports `sim`; the command that starts simulations does. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: BASE,
  kube: KUBE,
  kinds: KINDS,
  pki: [...KUBE, "pki"],
  machines: DOING,
  inventory: DOING,
  netboot: DOING,
  bootstrap: DOING,
  systems: SYSTEMS,
  kubernetes: [...KUBE, "kubernetes"],
  apiserver: [...KINDS, "apiserver"],
  sim: [...DOING, "apiserver", "sim"],
  operator: [...SYSTEMS, "operator"],
  console: OPERATOR,
  lab: [...OPERATOR, "lab"],
  cli: [...OPERATOR, "kubernetes", "apiserver", "sim", "lab", "cli"],
};

const IMPORT = /^\s*(?:import|export)\b[^"']*["'](\.{1,2}\/[^"']+)["']|\bimport\(\s*["'](\.{1,2}\/[^"']+)["']/;

const wrong: string[] = [];
for (const file of globSync("src/**/*.ts").sort()) {
  const from = file.split("/")[1]!;
  const allowed = MAY_IMPORT[from];
  if (allowed === undefined) wrong.push(`${file}: folder src/${from} has no layer; give it one in tools/layers.ts`);
  // A unit test may set up whatever proves its subject.
  if (allowed === undefined || file.endsWith(".test.ts")) continue;
  for (const [index, line] of readFileSync(file, "utf8").split("\n").entries()) {
    const target = IMPORT.exec(line);
    const path = target?.[1] ?? target?.[2];
    if (path === undefined) continue;
    const to = normalize(join(dirname(file), path)).split("/")[1]!;
    if (to !== from && !allowed.includes(to)) wrong.push(`${file}:${index + 1}: ${from} may not import ${to}`);
  }
}
for (const line of wrong) console.error(line);
console.log(
  wrong.length === 0 ? "layers: every import points down" : `layers: ${wrong.length} imports point the wrong way`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;
