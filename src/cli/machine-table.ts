import type { MachineRow } from "../lab/pool/rows.ts";
import { newsLine } from "./lab-news.ts";
import { say, secrets } from "./outgoing.ts";
import { table } from "./progress.ts";

/** The machines as a table, drawn over itself on a terminal; elsewhere each machine's news is a line of its own. */
export class MachineTable {
  readonly #out: { write(text: string): unknown; isTTY?: boolean; columns?: number };
  readonly #seconds: () => string;
  readonly #heads: readonly string[];
  readonly #last = new Map<string, string>();
  #drawn = 0;

  /** `owner`: the kind of what has a machine, as a heading. */
  constructor(
    out: { write(text: string): unknown; isTTY?: boolean; columns?: number },
    seconds: () => string,
    owner: string,
  ) {
    this.#out = out;
    this.#seconds = seconds;
    this.#heads = ["MACHINE", "HOST", owner, "NODE", ""];
  }

  show(found: readonly MachineRow[]): void {
    const rows = secrets.clean(found);
    if (this.#out.isTTY) this.#draw(rows);
    else this.#report(rows);
  }

  #report(rows: readonly MachineRow[]): void {
    for (const { machine, host, instance, node } of rows) {
      const news = `${host}, ${instance}, node ${node}`;
      const key = machine === "-" ? instance : machine;
      if (this.#last.get(key) === news) continue;
      this.#last.set(key, news);
      this.#out.write(`${newsLine(this.#seconds(), `${machine}  ${news}`)}\n`);
    }
  }

  /** Lines that stay; the table goes on below them. */
  say(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.#drawn = 0;
    say(`\n${lines.join("\n")}`);
  }

  #draw(rows: readonly MachineRow[]): void {
    const cells = rows.map(({ machine, host, instance, node, doing }) => [machine, host, instance, node, doing]);
    const width = (this.#out.columns ?? 120) - 1;
    const lines = table(this.#heads, cells).map((line) => line.slice(0, width));
    const up = this.#drawn > 0 ? `\x1b[${this.#drawn}A` : "";
    this.#out.write(`${up}${lines.map((line) => `\x1b[2K${line}\n`).join("")}\x1b[J`);
    this.#drawn = lines.length;
  }
}
