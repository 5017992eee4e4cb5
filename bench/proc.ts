/** What Linux says of a process (proc(5)). */
import { readdirSync, readFileSync } from "node:fs";
import { type Usage, usageIn } from "../src/tenants/process/usage.ts";

/** Its resident memory, in MiB. */
export function residentOf(pid: number): number {
  return now(pid).residentBytes / 2 ** 20;
}

/** Its CPU time since it began, in seconds. */
export function cpuOf(pid: number): number {
  return now(pid).cpuSeconds;
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
