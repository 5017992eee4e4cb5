/** Keeps the figures of this run: where `BENCH_JSON` names a folder, they are a JSON file in it at the end, for `make bench-compare`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { basename, join } from "node:path";
import { systemClock } from "@slipway/base";

/** One figure of a run. Names are the same in every run of the same benchmark with the same arguments. */
export interface KeptFigure {
  what: string;
  value: number;
  unit: string;
  budget?: number;
}

/** A run as its file has it. */
export interface KeptRun {
  /** The benchmark's file and arguments. */
  command: string;
  node: string;
  cpu: string;
  /** Of the machine over the last minute, when the run began. */
  load: number;
  at: string;
  figures: KeptFigure[];
}

const figures: KeptFigure[] = [];
const load = loadavg()[0]!;
const at = new Date(systemClock.now()).toISOString();

/** Keeps one figure. A figure that is named again is another: they are numbered. */
export function keep(what: string, value: number, unit: string, budget?: number): void {
  const before = figures.filter((each) => each.what.replace(/ #\d+$/, "") === what).length;
  const name = before === 0 ? what : `${what} #${before + 1}`;
  figures.push({ what: name, value, unit, ...(budget !== undefined && { budget }) });
}

const folder = process.env.BENCH_JSON;
if (folder)
  process.on("exit", () => {
    if (figures.length === 0) return;
    const [file = "", ...args] = process.argv.slice(1);
    const name = basename(file).replace(/\.bench\.ts$/, "");
    const command = [basename(file), ...args].join(" ");
    const run: KeptRun = { command, node: process.version, cpu: cpus()[0]?.model ?? "", load, at, figures };
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}-${at.replaceAll(/[:.]/g, "-")}.json`), `${JSON.stringify(run, null, 2)}\n`);
  });
