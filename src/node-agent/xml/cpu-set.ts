/** Sets of processors as the kernel and libvirt write them: `0-3,8,^2`. */
import { Fault } from "@slipway/base";

const HIGHEST = 65_535;

/** The processors of a text, ascending; an empty text is none. Throws a `Fault` (`Invalid`) that names what can't be read. */
export function parseCpuSet(text: string): readonly number[] {
  const cpus = new Set<number>();
  for (const part of text.split(",").map((one) => one.trim())) {
    if (part === "") continue;
    const [, not, from, to = from] = /^(\^?)(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? [];
    const [first, last] = [Number(from), Number(to)];
    if (from === undefined || last < first || last > HIGHEST)
      throw new Fault(
        "Invalid",
        "processors",
        `${JSON.stringify(part.slice(0, 64))} is neither a number nor a range such as 0-3`,
        {
          remedy: "write numbers and ranges with commas between them: 0-1,54-60",
        },
      );
    for (let cpu = first; cpu <= last; cpu++) not === "^" ? cpus.delete(cpu) : cpus.add(cpu);
  }
  return [...cpus].sort((a, b) => a - b);
}

/** The same as text, ranges where there are any. */
export function cpuSetText(cpus: readonly number[]): string {
  const sorted = [...new Set(cpus)].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const cpu of sorted) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === cpu - 1) last[1] = cpu;
    else ranges.push([cpu, cpu]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(",");
}
