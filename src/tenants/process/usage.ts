/** What a process has cost so far, as Linux says (proc(5)). */
import { readFile } from "node:fs/promises";

export interface Usage {
  residentBytes: number;
  cpuSeconds: number;
}

/** Linux counts CPU time in hundredths of a second (`getconf CLK_TCK`). */
export const TICKS_PER_SECOND = 100;

/** Undefined: it is gone, or this is no Linux. */
export async function usageOf(pid: number): Promise<Usage | undefined> {
  try {
    const [stat, status] = await Promise.all(
      ["stat", "status"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8")),
    );
    return usageIn(stat!, status!);
  } catch {
    return undefined;
  }
}

/** User and system time are the fields 14 and 15 of `stat`; the second one is in parentheses and may hold blanks. */
export function usageIn(stat: string, status: string): Usage | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
  if (kib === undefined) return undefined;
  return {
    residentBytes: Number(kib) * 1024,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
  };
}
