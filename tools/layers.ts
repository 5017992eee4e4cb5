/**
 * Checks that imports follow the layers of `layer-table.ts`: a file imports its own part and the parts that its layer names, inside some
 * parts only the folders below its own, a package only through an entry point of its `exports`, and no file its importer, by however long a
 * way. Prints what does not, and ends with 1.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { circlesIn } from "./circles.ts";
import { entryPoints, importsOf, isPackage, targetOf } from "./imports.ts";
import { isPastThePage, isUpwards, MAY_IMPORT, namesASystem, PACKAGES, STANDS_IN, SYSTEMS } from "./layer-table.ts";

const partOf = (path: string): string => path.split("/")[1]!;

const entries = entryPoints(".");
const wrong: string[] = [];
const graph = new Map<string, string[]>();
for (const file of globSync(["packages/**/*.ts", "src/**/*.{ts,tsx}"], { exclude: ["**/node_modules/**"] }).sort()) {
  const from = partOf(file);
  const allowed = STANDS_IN.test(file) ? [...SYSTEMS, "sim"] : MAY_IMPORT[from];
  if (allowed === undefined) wrong.push(`${file}: ${dirname(file)} has no layer; give it one in tools/layers.ts`);
  const isTest = /(\.test|\/testing)\.ts$/.test(file);
  const targets: string[] = [];
  for (const { line, name } of importsOf(readFileSync(file, "utf8"))) {
    const target = targetOf(file, name, entries);
    if (target === undefined) {
      if (isPackage(name)) wrong.push(`${file}:${line}: ${name} is no entry point of that package`);
      continue;
    }
    targets.push(target);
    if (isPastThePage(file, target)) wrong.push(`${file}:${line}: the page in the browser imports ${name}`);
    if (namesASystem(file, target)) wrong.push(`${file}:${line}: takes the kinds of one system, not those of the list`);
    const to = partOf(target);
    if (to === from) {
      if (!isTest && isUpwards(file, target)) wrong.push(`${file}:${line}: ${name} is in a folder above its own`);
      continue;
    }
    if (name.startsWith(".") && (file.startsWith("packages/") || target.startsWith("packages/")))
      wrong.push(`${file}:${line}: imports past the border of a package: ${name}`);
    // A unit test of src/, and what tests share, may set up whatever proves its subject.
    else if (
      allowed !== undefined &&
      !allowed.includes(to) &&
      !(isTest && file.startsWith("src/")) &&
      !isTestOf(file, to)
    )
      wrong.push(`${file}:${line}: ${from} may not import ${to}`);
  }
  graph.set(file, targets);
}
// What is outside of the layers may import anything, but in no circle.
for (const file of globSync(["test/**/*.ts", "bench/**/*.ts", "tools/**/*.ts"]).sort())
  graph.set(
    file,
    importsOf(readFileSync(file, "utf8")).flatMap(({ name }) => targetOf(file, name, entries) ?? []),
  );
for (const circle of circlesIn(graph))
  wrong.push(`a circle of ${circle.length} files: ${circle.slice(0, 8).join(" → ")}`);
for (const line of wrong) console.error(line);
console.log(
  wrong.length === 0 ? "layers: every import points down" : `layers: ${wrong.length} imports point the wrong way`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;

/** Tests of a package may use packages beside it. */
function isTestOf(file: string, to: string): boolean {
  return file.startsWith("packages/") && file.endsWith(".test.ts") && to in PACKAGES;
}
