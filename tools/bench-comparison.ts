import type { KeptRun } from "../bench/record.ts";

/** One figure on both sides. */
export interface Comparison {
  command: string;
  what: string;
  unit: string;
  before: Side;
  after: Side;
  /** The change of the median, as a share of the one before. */
  change: number;
  verdict: "changed" | "within noise" | "one run" | "other machine";
}

export interface Side {
  runs: number;
  median: number;
  /** From the least to the most, as a share of the median. */
  noise: number;
}

/**
 * Each figure that both sides have, in the order of the runs. It has changed where no value of the one side lies between values of the other.
 * Runs of other processors or other versions of Node are compared, and marked.
 */
export function compared(before: readonly KeptRun[], after: readonly KeptRun[]): Comparison[] {
  const [first, second] = [byFigure(before), byFigure(after)];
  return [...first].flatMap(([key, one]) => {
    const other = second.get(key);
    if (other === undefined) return [];
    const [a, b] = [sideOf(one.values), sideOf(other.values)];
    const { command, what, unit } = one;
    const change = a.median === 0 ? 0 : b.median / a.median - 1;
    return [{ command, what, unit, before: a, after: b, change, verdict: verdictOf(one, other) }];
  });
}

interface Values {
  command: string;
  what: string;
  unit: string;
  values: number[];
  machines: Set<string>;
}

function byFigure(runs: readonly KeptRun[]): Map<string, Values> {
  const found = new Map<string, Values>();
  for (const { command, node, cpu, figures } of runs)
    for (const { what, unit, value } of figures) {
      const key = JSON.stringify([command, what, unit]);
      const of = found.get(key) ?? { command, what, unit, values: [], machines: new Set() };
      of.values.push(value);
      of.machines.add(`${cpu} ${node}`);
      found.set(key, of);
    }
  return found;
}

function sideOf(values: readonly number[]): Side {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { runs: sorted.length, median, noise: median === 0 ? 0 : (sorted.at(-1)! - sorted[0]!) / Math.abs(median) };
}

function verdictOf(one: Values, other: Values): Comparison["verdict"] {
  if (new Set([...one.machines, ...other.machines]).size > 1) return "other machine";
  if (one.values.length < 2 || other.values.length < 2) return "one run";
  const areApart =
    Math.max(...one.values) < Math.min(...other.values) || Math.max(...other.values) < Math.min(...one.values);
  return areApart ? "changed" : "within noise";
}

/** A table for people, a block for each benchmark. */
export function comparisonLines(all: readonly Comparison[]): string[] {
  if (all.length === 0) return ["no figure is on both sides"];
  return [...Map.groupBy(all, ({ command }) => command)].flatMap(([command, figures]) => [
    command,
    ...figures.map(
      ({ what, unit, before, after, change, verdict }) =>
        `  ${what.padEnd(52)} ${shown(before)} ${shown(after)} ${unit.padEnd(10)} ${percent(change, true)}  ${verdict}`,
    ),
  ]);
}

const shown = ({ median, noise, runs }: Side): string =>
  `${median.toPrecision(4).padStart(10)} ±${percent(noise / 2)} (${runs})`;

function percent(share: number, signed = false): string {
  return `${signed && share >= 0 ? "+" : ""}${(100 * share).toFixed(0)} %`.padStart(6);
}
