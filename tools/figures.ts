/**
 * The tree in figures: files and lines of each room, the largest file, files in circles of imports, and functions that exceed a limit of the linter.
 * Run: `node tools/figures.ts [folder of another checkout]`.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { circlesIn } from "./circles.ts";
import { entryPoints, importsOf, targetOf } from "./imports.ts";
import { exemptionsOf, type LinterConfiguration } from "./limit-list.ts";

const root = process.argv[2] ?? ".";
const ROOMS = ["packages/*", "src/*", "test/*", "bench", "tools"];

interface Part {
  files: number;
  lines: number[];
}

const source = new Map<string, Part>();
const tests = new Map<string, Part>();
const sizes: { file: string; lines: number }[] = [];
const graph = new Map<string, string[]>();
const entries = entryPoints(root);
for (const file of globSync(
  ROOMS.map((room) => `${room}/**/*.ts`),
  { cwd: root, exclude: ["**/node_modules/**"] },
).sort()) {
  const text = readFileSync(join(root, file), "utf8");
  const lines = text.split("\n").length - 1;
  const room = file
    .split("/")
    .slice(0, /^(packages|src)\//.test(file) ? 2 : 1)
    .join("/");
  const isTest = /(\.test|\/testing)\.ts$/.test(file) || file.startsWith("test/");
  const parts = isTest ? tests : source;
  const part = parts.get(room) ?? { files: 0, lines: [] };
  part.files++;
  part.lines.push(lines);
  parts.set(room, part);
  sizes.push({ file, lines });
  graph.set(
    file,
    importsOf(text).flatMap(({ name }) => targetOf(file, name, entries) ?? []),
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
const row = (...cells: (string | number)[]): void => console.log(`| ${cells.join(" | ")} |`);

row("room", "files", "lines", "median", "largest", "test files", "test lines");
row("---", "---", "---", "---", "---", "---", "---");
for (const room of [...new Set([...source.keys(), ...tests.keys()])].sort()) {
  const { files, lines } = source.get(room) ?? { files: 0, lines: [] };
  const tested = tests.get(room) ?? { files: 0, lines: [] };
  const sorted = lines.toSorted((a, b) => a - b);
  row(room, files, sum(lines), sorted[files >> 1] ?? 0, sorted.at(-1) ?? 0, tested.files, sum(tested.lines));
}
const all = (parts: ReadonlyMap<string, Part>): number => sum([...parts.values()].map(({ lines }) => sum(lines)));
const [largest] = sizes.toSorted((a, b) => b.lines - a.lines);
const inCircles = circlesIn(graph).flat();
const linter = JSON.parse(readFileSync(join(root, "biome.json"), "utf8")) as LinterConfiguration;
console.log(`
${all(source)} lines of source, ${all(tests)} of tests
largest file: ${largest?.file} (${largest?.lines} lines)
files in circles of imports: ${inCircles.length}
files that may exceed a limit of the linter: ${new Set(exemptionsOf(linter).map(({ file }) => file)).size}`);
