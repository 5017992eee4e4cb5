/**
 * Two sets of runs of benchmarks side by side, each figure with its noise: `node tools/bench-compare.ts BEFORE AFTER`, two folders (or files) that benchmarks wrote with `BENCH_JSON=folder`. Run a benchmark
 * at least three times for each side, in turns: from one run nobody knows the noise.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { KeptRun } from "../bench/record.ts";
import { compared, comparisonLines } from "./bench-comparison.ts";

const folders = process.argv.slice(2);
if (folders.length !== 2) {
  console.error("usage: node tools/bench-compare.ts BEFORE AFTER (folders that BENCH_JSON named)");
  process.exit(2);
}
try {
  const [before, after] = folders.map(runsIn) as [KeptRun[], KeptRun[]];
  for (const line of comparisonLines(compared(before, after))) console.log(line);
} catch (error) {
  console.error(`bench-compare: ${(error as Error).message}`);
  process.exit(1);
}

function runsIn(path: string): KeptRun[] {
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => name.endsWith(".json"))
        .sort()
        .map((name) => join(path, name))
    : [path];
  if (files.length === 0) throw new Error(`no runs in ${path}: run a benchmark with BENCH_JSON=${path}`);
  return files.map((file) => {
    try {
      return JSON.parse(readFileSync(file, "utf8")) as KeptRun;
    } catch (cause) {
      throw new Error(`${file} is no run of a benchmark: ${(cause as Error).message}`);
    }
  });
}
