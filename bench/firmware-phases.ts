import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { LogLine } from "../src/netboot/logs/host-logs.ts";

/** Something that was seen on the way from power-on to the report. */
export interface Mark {
  /** Seconds since power-on. */
  at: number;
  what: string;
}

/** What servers and console show of one boot, in the order of time. `now`: seconds since power-on. */
export class Phases {
  readonly #now: () => number;
  readonly #marks: Mark[] = [];
  #leases = 0;
  #console = "";

  constructor(now: () => number) {
    this.#now = now;
  }

  get marks(): readonly Mark[] {
    return this.#marks.toSorted((a, b) => a.at - b.at);
  }

  /** Only the first of a name counts. */
  mark(what: string, at = this.#now()): void {
    if (!this.#marks.some((mark) => mark.what === what)) this.#marks.push({ at, what });
  }

  /** A lease: the firmware's, then the loader's or the agent's. */
  leased(at?: number): void {
    this.#leases++;
    this.mark(`DHCP, lease ${this.#leases}`, at);
  }

  /** A line of Slipway's about this machine. `powerOn`: when that was, in milliseconds since 1970. */
  slipway({ at, source, line }: LogLine, powerOn: number): void {
    const seconds = (at - powerOn) / 1000;
    if (source === "dhcp" && line.includes("is given until")) this.leased(seconds);
    const [, name, took] = /^(?:GET )?(\S+): (?:200|delivered), \d+ bytes in ([\d.]+) s/.exec(line) ?? [];
    if (name === undefined) return;
    const file = fileOf(name);
    this.mark(`${file}, asked`, seconds - Number(took));
    this.mark(`${file}, ended`, seconds);
  }

  /** What dnsmasq says while it runs. It names a file once that has been sent. */
  dnsmasq(said: Readable): void {
    createInterface({ input: said }).on("line", (line) => {
      if (line.includes("DHCPDISCOVER(")) this.mark("DHCP, asked");
      else if (line.includes("DHCPACK(")) this.leased();
      const [, path] = / sent (\S+) to /.exec(line) ?? [];
      if (path !== undefined) this.mark(`${fileOf(path)}, ended`);
    });
  }

  /** Text of the serial console. */
  console(text: string): void {
    this.#console = (this.#console + text).slice(-16_384);
    for (const [pattern, what] of SHOWN) if (pattern.test(this.#console)) this.mark(what);
  }
}

const SHOWN: readonly (readonly [RegExp, string])[] = [
  [/Linux version /, "console: kernel began"],
  [/Run \/init as init process/, "console: initramfs unpacked"],
  [/slipway: Slipway's agent/, "console: agent began"],
  [/slipway: \S+ \(\S+\) has /, "console: agent has an address"],
];

/** The machine's own script is called by its address, and what has a name of its own by that. */
function fileOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.replace(/^([0-9a-f]{2}[:-]?){6}/, "MAC");
}

/** The boots beside each other, a line for each moment, in the order of the first that has it. */
export function phaseLines(boots: Readonly<Record<string, readonly Mark[]>>): string[] {
  const all = Object.values(boots);
  const at = (marks: readonly Mark[], what: string): number | undefined => marks.find((one) => one.what === what)?.at;
  const order = new Map<string, number>();
  for (const { what, at: seconds } of all.flat()) if (!order.has(what)) order.set(what, seconds);
  const rows = [...order].sort(([, a], [, b]) => a - b).map(([what]) => what);
  const line = (what: string, cells: readonly string[]): string =>
    `  ${what.padEnd(32)}${cells.map((cell) => cell.padStart(10)).join("")}`;
  return [
    line("seconds since power-on", Object.keys(boots)),
    ...rows.map((what) =>
      line(
        what,
        all.map((marks) => at(marks, what)?.toFixed(2) ?? "-"),
      ),
    ),
  ];
}
