import { cpus } from "node:os";
import { keep } from "./record.ts";

/** What every benchmark says first: on what and how it ran. */
export function printMachine(...words: string[]): void {
  const [cpu] = cpus();
  console.log(`node ${process.version}, ${process.platform}/${process.arch}, ${cpus().length} × ${cpu?.model ?? "?"}`);
  console.log(`command: node ${process.execArgv.join(" ")} ${process.argv.slice(1).join(" ")}`.replace(/ +/g, " "));
  for (const line of words) console.log(line);
}

/** One figure, with the budget it is held against. */
export function report(what: string, value: number, unit: string, budget?: number): void {
  keep(what, value, unit, budget);
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  const verdict = budget === undefined ? "" : `   budget ${budget}: ${value <= budget ? "met" : "MISSED"}`;
  console.log(`${what.padEnd(46)} ${value.toFixed(digits).padStart(9)} ${unit}${verdict}`);
}

/** CPU seconds of this process, user and system. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** The most resident memory that this process ever had, in MiB. */
export function peakMiB(): number {
  return process.resourceUsage().maxRSS / 1024;
}

/** The resident memory of this process now, in MiB. */
export function residentMiB(): number {
  return process.memoryUsage.rss() / 2 ** 20;
}
