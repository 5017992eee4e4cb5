/** What Linux says of a process (proc(5)). */
import { readdirSync, readFileSync } from "node:fs";
import { TICKS_PER_SECOND, type Usage, usageIn } from "../src/tenants/process/usage.ts";

/** Its resident memory, in MiB. */
export function residentOf(pid: number): number {
  return now(pid).residentBytes / 2 ** 20;
}

/** The most resident memory that it ever had, in MiB. */
export function peakOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}

/** Its CPU time since it began, in seconds. */
export function cpuOf(pid: number): number {
  return now(pid).cpuSeconds;
}

/** CPU time of this process' children that have ended, in seconds: fields 16 and 17 of `stat` (proc(5)). */
export function cpuOfEnded(): number {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

function now(pid: number): Usage {
  const read = (file: string): string => readFileSync(`/proc/${pid}/${file}`, "utf8");
  return usageIn(read("stat"), read("status"))!;
}

/** The processes that it started, by name: those of all its threads, and what these started in turn. */
export function childrenOf(pid: number): { pid: number; name: string }[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const pids = threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return pids.flatMap((child) => [
    { pid: child, name: readFileSync(`/proc/${child}/comm`, "utf8").trim() },
    ...childrenOf(child),
  ]);
}
