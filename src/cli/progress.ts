import { Instance } from "../kinds/harvester/instance.ts";
import { InstancePool } from "../kinds/harvester/instance-pool.ts";
import type { KubeObject } from "../kube/object.ts";

/** One line of the live view: an object, its word for its state, and what it does or waits for. */
export interface ProgressRow {
  name: string;
  status: string;
  doing: string;
  /** Of a pool: how far it is, for where there is no room for more. */
  brief?: string;
}

/** What a person wants to know of each pool and machine now. Pure. */
export function progressRows(pools: readonly InstancePool[], instances: readonly Instance[]): ProgressRow[] {
  return [
    ...pools.map((pool) => ({
      name: `${InstancePool.kind} ${pool.metadata.name}`,
      status: pool.status?.status || "new",
      doing: readyMessage(pool.status) || "waiting for the operator to look at it",
      brief: `${pool.status?.ready ?? 0} of ${pool.spec.count} machines have joined`,
    })),
    ...instances.map((instance) => ({
      name: `  ${Instance.kind} ${instance.metadata.name}`,
      status: instance.status?.status || "new",
      doing: doingOf(instance),
    })),
  ];
}

function doingOf({ status }: Instance): string {
  const stalled = status?.conditions?.find((condition) => condition.type === "Stalled" && condition.status === "True");
  if (stalled !== undefined) return stalled.message;
  if (status?.waitingFor) return `waiting for ${status.waitingFor}`;
  return readyMessage(status) || "waiting for the operator to look at it";
}

function readyMessage(status: { conditions?: { type: string; message: string }[] | undefined } | undefined): string {
  return status?.conditions?.find((condition) => condition.type === "Ready")?.message ?? "";
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

/** The column of a CRD's printed table as its kind declares it: name, status, ready, requested for a pool. */
export function printed(
  kind: { columns: readonly { name: string; jsonPath: string; priority?: number }[] },
  objects: readonly KubeObject[],
): string[] {
  const columns = kind.columns.filter((column) => (column.priority ?? 0) === 0);
  const value = (object: KubeObject, path: string): string => {
    const found = path
      .slice(1)
      .split(".")
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], object);
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

  show(rows: readonly ProgressRow[]): void {
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
