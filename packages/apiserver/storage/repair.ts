import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { rfc3339 } from "@slipway/base";
import { filesOf, sizeOf, someOf, wholeObject } from "./inspect.ts";
import type { JournalPorts } from "./journal.ts";
import { MarkWriter, readMark, syncFolderOf } from "./mark.ts";
import { type Columns, rowsOf } from "./pages.ts";
import { fresh, type JournalRow, type JournalState, sumOf, sumOfState } from "./record.ts";
import { openFile, writeWhole } from "./sqlite-journal.ts";

/**
 * Puts a journal of what is whole in place of a damaged one, whose files get another name. Returns what was done, a line each. How
 * many objects are damaged or missing is known by their count alone; names are reported where they can still be read. Should power be
 * lost meanwhile, the file is refused again, and the damaged one is there under either name.
 */
export function repair(file: string, { clock, random }: JournalPorts): string[] {
  const found = salvage(file);
  const mark = readMark(file);
  const acknowledged = typeof mark === "string" ? 0 : mark.version;
  // No version is given twice: a client that saw the lost ones must not take later changes for them.
  const version = Math.max(acknowledged, found.version) + 1;

  const made = `${file}.repaired`;
  for (const old of filesOf(made)) rmSync(old, { force: true });
  const db = openFile(made);
  const state = fresh(found.rows, version, random);
  try {
    writeWhole(db, found.rows, state);
  } finally {
    db.close();
  }
  const aside = `.damaged-${rfc3339(clock.now()).replaceAll(":", "")}`;
  const moved: string[] = [];
  for (const part of filesOf(file)) {
    if (!existsSync(part)) continue;
    if (part === `${file}-shm` || sizeOf(part) === 0) {
      // An index that SQLite makes anew, or nothing.
      rmSync(part);
      continue;
    }
    moved.push(freeName(`${part}${aside}`));
    // The journal itself is replaced in one step, so that there is one at any moment.
    if (part === file) copyFileSync(part, moved.at(-1)!);
    else renameSync(part, moved.at(-1)!);
  }
  renameSync(made, file);
  new MarkWriter(file, state, clock).close();
  syncFolderOf(file);
  return [...reportOf(found, acknowledged), ...moved.map((name) => `moved aside: ${name}`)];
}

interface Salvaged {
  rows: JournalRow[];
  /** Names of rows that are there and not whole. */
  bad: string[];
  /** As far as it can be read. */
  state: JournalState | undefined;
  version: number;
}

function salvage(file: string): Salvaged {
  const [db, wal] = [file, `${file}-wal`].map((part) => (existsSync(part) ? readFileSync(part) : Buffer.alloc(0)));
  const newest = new Map<string, { row: JournalRow; version: number }>();
  const bad = new Set<string>();
  let state: JournalState | undefined;
  let version = 0;
  const rows = [...rowsOf(db!, wal!)];
  const format = rows.some((columns) => rowIn(columns, 2) !== undefined || stateIn(columns) !== undefined) ? 2 : 1;
  for (const columns of rows) {
    const row = rowIn(columns, format);
    if (row === undefined) {
      state = stateIn(columns) ?? state;
      continue;
    }
    const name = `${row.collection}/${row.key}`;
    const object = wholeObject(row, format);
    if (object === undefined) {
      bad.add(name);
      continue;
    }
    const at = Number(object.metadata.resourceVersion) || 0;
    version = Math.max(version, at);
    const other = newest.get(name);
    const whole = { ...row, sum: sumOf(row.collection, row.key, row.value) };
    if (other === undefined || other.version < at) newest.set(name, { row: whole, version: at });
  }
  return {
    rows: [...newest.values()].map(({ row }) => row),
    bad: [...bad].filter((name) => !newest.has(name)),
    state,
    version: Math.max(version, state?.version ?? 0),
  };
}

function rowIn(columns: Columns, format: number): JournalRow | undefined {
  const [collection, key, value, sum = 0] = format === 1 ? columns : columns.slice(1);
  if (columns.length !== (format === 1 ? 3 : 5) || (format > 1 && columns[0] !== null)) return undefined;
  if (typeof collection !== "string" || typeof key !== "string" || typeof value !== "string") return undefined;
  return typeof sum === "number" ? { collection, key, value, sum } : undefined;
}

function stateIn(columns: Columns): JournalState | undefined {
  const [id, journal, version, count, total, sum] = columns;
  if (columns.length !== 6 || id !== null || typeof journal !== "string") return undefined;
  const state = { journal, version: Number(version), count: Number(count), total: Number(total) };
  return sumOfState(state) === sum ? state : undefined;
}

function reportOf({ rows, bad, state, version }: Salvaged, acknowledged: number): string[] {
  const lost = state === undefined ? undefined : Math.max(0, state.count - rows.length);
  const report = [`${rows.length} objects are kept`];
  if (lost === undefined) report.push("how many there were is not known");
  else if (lost > 0) report.push(`${lost} of ${state!.count} objects are lost`);
  if (bad.length > 0) report.push(`lost, as far as names can be read: ${someOf(bad)}`);
  if (version < acknowledged) report.push(`every change after version ${version}, up to ${acknowledged}, is lost`);
  return report;
}

function freeName(name: string): string {
  for (let i = 1; ; i++) {
    const free = i === 1 ? name : `${name}-${i}`;
    if (!existsSync(free)) return free;
  }
}
