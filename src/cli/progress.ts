import { type KubeObject, refOf } from "@slipway/kube";
import type { Kind } from "../kinds/kind.ts";
import { doingOf, isReady, summaryOf, wordOf } from "../views/standing.ts";
import { secrets } from "./outgoing.ts";

/** One line of the live view: an object, its word for its state, and what it does or waits for. */
export interface ProgressRow {
  name: string;
  status: string;
  doing: string;
  /** Of an object that was applied: how far it is, for where there is no room for more. */
  brief?: string;
}

/** The objects of one kind. */
export interface Listed {
  kind: Kind;
  objects: readonly KubeObject[];
}

/** What a person wants to know of each object now. Those that were not applied belong to the ones above them. Pure. */
export function progressRows(listed: readonly Listed[], applied: ReadonlySet<string>): ProgressRow[] {
  // What only holds data is never on its way.
  const moving = listed.filter(({ kind }) => kind.status !== undefined);
  return moving.flatMap(({ kind, objects }) =>
    objects.map((object) => {
      const isApplied = applied.has(idOf(object));
      const ready = summaryOf(object)?.message ?? "";
      return {
        name: `${isApplied ? "" : "  "}${kind.kind} ${object.metadata.name}`,
        status: wordOf(object) || (isReady(object) ? "ready" : "new"),
        doing: doingOf(object),
        ...(isApplied && { brief: briefOf(ready) || doingOf(object) }),
      };
    }),
  );
}

/** The first part of a message: Cluster API's are lists of lines. */
function briefOf(message: string): string {
  const [first = ""] = message.replace(/^\* /, "").split(/; |\n|(?<!:) \* /);
  return first;
}

/** An object by its kind, namespace and name, whichever version it is read in. */
export function idOf(object: KubeObject): string {
  const { namespace = "", name } = refOf(object);
  const group = object.apiVersion.split("/").slice(0, -1).join();
  return `${group} ${object.kind} ${namespace}/${name}`;
}

/** Rows as text, columns aligned, no line longer than `width`. */
export function renderRows(rows: readonly ProgressRow[], width: number): string[] {
  const name = Math.max(0, ...rows.map((row) => row.name.length));
  const status = Math.max(0, ...rows.map((row) => row.status.length));
  return rows.map((row) => `${row.name.padEnd(name)}  ${row.status.padEnd(status)}  ${row.doing}`.slice(0, width));
}

/** kubectl's table of these columns: upper-case heads, three spaces between. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = heads.map((head, i) => Math.max(head.length, ...rows.map((row) => row[i]!.length)));
  return [heads, ...rows].map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join("   ")
      .trimEnd(),
  );
}

/** The table that a kind's columns ask for, without dates: all that is shown here has just been made. */
export function printed(
  kind: { columns: readonly { name: string; type: string; jsonPath: string; priority?: number }[] },
  objects: readonly KubeObject[],
): string[] {
  const columns = kind.columns.filter((column) => (column.priority ?? 0) === 0 && column.type !== "date");
  const value = (object: KubeObject, path: string): string => {
    const found = steps(path).reduce<unknown>((at, step) => step(at), object);
    return found === undefined || found === null ? "" : String(found);
  };
  return table(
    ["NAME", ...columns.map((column) => column.name.toUpperCase())],
    objects.map((object) => [object.metadata.name, ...columns.map((column) => value(object, column.jsonPath))]),
  );
}

/**
 * Shows rows as they change. On a terminal the block is drawn over itself; elsewhere each pool's progress is a line of its
 * own with the seconds since the start, so that a log can be read afterwards.
 */
export class Progress {
  readonly #out: { write(text: string): unknown; isTTY?: boolean; columns?: number };
  readonly #seconds: () => number;
  #drawn = 0;
  readonly #last = new Map<string, string>();

  constructor(out: { write(text: string): unknown; isTTY?: boolean; columns?: number }, seconds: () => number) {
    this.#out = out;
    this.#seconds = seconds;
  }

  show(found: readonly ProgressRow[]): void {
    const rows = secrets.clean(found);
    if (this.#out.isTTY) {
      const lines = renderRows(rows, (this.#out.columns ?? 120) - 1);
      const up = this.#drawn > 0 ? `\x1b[${this.#drawn}A` : "";
      this.#out.write(`${up}${lines.map((line) => `\x1b[2K${line}\n`).join("")}\x1b[J`);
      this.#drawn = lines.length;
      return;
    }
    for (const row of rows) {
      if (row.brief === undefined || this.#last.get(row.name) === row.brief) continue;
      this.#last.set(row.name, row.brief);
      this.#out.write(`${this.#seconds().toFixed(1).padStart(6)}s  ${row.name}: ${row.brief}\n`);
    }
  }
}

/** The steps of a column's path: members, and of a list of conditions the one of a type. */
function steps(path: string): ((at: unknown) => unknown)[] {
  return [...path.matchAll(/\.([^.[]+)|\[\?\(@\.(\w+)\s*==\s*"([^"]*)"\)\]/g)].map(
    ([, member, key, value]) =>
      (at) =>
        member !== undefined
          ? (at as Record<string, unknown> | undefined)?.[member]
          : (at as Record<string, unknown>[] | undefined)?.find((item) => item[key!] === value),
  );
}
