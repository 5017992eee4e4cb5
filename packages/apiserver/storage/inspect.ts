import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "@slipway/base";
import type { Body } from "../model/served.ts";
import { type Mark, markFile, readMark } from "./mark.ts";
import { addSum, FORMAT, type JournalRow, type JournalState, sumOf, sumOfState } from "./record.ts";

export interface LoadedRow extends JournalRow {
  id: number;
  object: Body;
}

/** What is in a journal's file. */
export type Inspected =
  /** Nothing was ever kept here. */
  | { is: "new" }
  | { is: "whole"; format: number; state: JournalState; rows: LoadedRow[] }
  | { is: "damaged"; what: string[] };

const MOST_NAMES = 10;

/**
 * Reads the journal's file and changes nothing (but for a first start that was interrupted). Every row is compared with its checksum, all of them with the state that was
 * committed with them, and that with the mark beside the file. Throws a `Fault` when the file can't be read at all, is in use by
 * another process, or was written by a newer Slipway.
 */
export function inspect(file: string): Inspected {
  undoFirstStart(file);
  const mark = readMark(file);
  const size = sizeOf(file);
  const kept = mark !== "none" && mark !== "damaged" && mark.version > 0;
  if (size === undefined || size === 0) {
    const what = size === undefined ? "the file is missing" : "the file is empty";
    if (kept) return damaged(`${what}; ${mark.version} was the version of its newest change`);
    if ((sizeOf(`${file}-wal`) ?? 0) > 0) return damaged(`${what}, but its write-ahead log is there`);
    // The mark is made first: an empty file without one was not left by a start that was interrupted.
    return mark === "none" && size === 0 ? damaged(what) : { is: "new" };
  }
  let read: Read;
  try {
    read = readAll(file);
  } catch (error) {
    const sqlite = (error as { errcode?: number }).errcode;
    if (sqlite === undefined || !DAMAGE.has(sqlite & 0xff)) throw unreadable(file, error);
    return damaged(`it can't be read as a database (${(error as Error).message})`);
  }
  if (read.format > FORMAT)
    throw new Fault("Invalid", file, `its format is ${read.format}; this Slipway reads up to ${FORMAT}`);
  // A start that was interrupted: the file was made, nothing was written.
  if (read.format === 0 && read.rows.length === 0 && !kept) return { is: "new" };
  const what = [...read.what, ...(read.format === 1 ? [] : wrongWithState(read)), ...wrongWithMark(read, mark)];
  return what.length === 0
    ? { is: "whole", format: read.format, state: read.state ?? NO_STATE, rows: read.rows }
    : { is: "damaged", what };
}

/** A rollback journal is there only until the file has its write-ahead log: before anything was acknowledged. */
function undoFirstStart(file: string): void {
  if ((sizeOf(`${file}-journal`) ?? 0) === 0) return;
  try {
    const db = new DatabaseSync(file);
    try {
      db.prepare("SELECT count(*) FROM sqlite_schema").get();
    } finally {
      db.close();
    }
  } catch {
    // What is wrong with the file is found below.
  }
}

/** SQLITE_CORRUPT, SQLITE_NOTADB, and SQLITE_ERROR: tables are missing. */
const DAMAGE: ReadonlySet<number> = new Set([11, 26, 1]);
const NO_STATE: JournalState = { journal: "", version: 0, count: 0, total: 0 };

function damaged(...what: string[]): Inspected {
  return { is: "damaged", what };
}

/** Size in bytes; undefined when there is no such file. */
export function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

interface Read {
  format: number;
  state: JournalState | undefined;
  rows: LoadedRow[];
  what: string[];
}

type StateRow = JournalState & { sum: number };

function readAll(file: string): Read {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    db.exec("PRAGMA busy_timeout = 2000");
    const { user_version: format } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    const read: Read = { format, state: undefined, rows: [], what: [] };
    if (format > FORMAT) return read;
    const faults = db.prepare("PRAGMA quick_check(5)").all() as { quick_check: string }[];
    for (const { quick_check: fault } of faults) if (fault !== "ok") read.what.push(`a page of it: ${fault}`);
    if (format === 0) {
      const { n } = db.prepare("SELECT count(*) AS n FROM sqlite_schema").get() as { n: number };
      if (n > 0) read.what.push("it is another program's database");
      return read;
    }
    const bad: string[] = [];
    const columns = format === 1 ? "0 AS id, collection, key, value, 0 AS sum" : "id, collection, key, value, sum";
    for (const row of db.prepare(`SELECT ${columns} FROM objects`).iterate() as Iterable<Omit<LoadedRow, "object">>) {
      const object = wholeObject(row, format);
      if (object === undefined) bad.push(`${row.collection}/${row.key}`);
      else read.rows.push({ ...row, object, sum: sumOf(row.collection, row.key, row.value) });
    }
    if (bad.length > 0) read.what.push(`${bad.length} damaged: ${someOf(bad)}`);
    read.state = format === 1 ? oldState(db, read.rows.length) : stateIn(db);
    return read;
  } finally {
    db.close();
  }
}

/** The object of a row whose checksum is right; undefined when it is not. */
export function wholeObject({ collection, key, value, sum }: JournalRow, format: number): Body | undefined {
  if (typeof value !== "string" || (format > 1 && sumOf(collection, key, value) !== sum)) return undefined;
  try {
    const object = JSON.parse(value) as Body;
    return typeof object?.metadata === "object" ? object : undefined;
  } catch {
    return undefined;
  }
}

function oldState(db: DatabaseSync, count: number): JournalState {
  const counter = db.prepare("SELECT version FROM counter").get() as { version: number } | undefined;
  return { ...NO_STATE, version: counter?.version ?? 0, count };
}

function stateIn(db: DatabaseSync): JournalState | undefined {
  const row = db.prepare("SELECT journal, version, count, total, sum FROM state").get() as StateRow | undefined;
  return row === undefined || sumOfState(row) !== row.sum ? undefined : row;
}

function wrongWithState({ state, rows, what }: Read): string[] {
  if (state === undefined) return ["how many objects it must hold can't be read"];
  const missing = state.count - rows.length;
  if (missing > 0) return [`${missing} of ${state.count} objects can't be read`];
  if (missing < 0) return [`${-missing} objects too many`];
  const total = rows.reduce((sum, row) => addSum(sum, row.sum), 0);
  return total === state.total || what.length > 0 ? [] : ["some of its objects are older than its newest change"];
}

function wrongWithMark({ state, format }: Read, mark: Mark | "none" | "damaged"): string[] {
  // Format 1 had none, and an upgrade that was interrupted left one at 0, or an empty file.
  if (format === 1 && (typeof mark === "string" || mark.version === 0)) return [];
  if (mark === "damaged") return ["the mark of its newest change can't be read"];
  if (mark === "none") return ["the mark of its newest change is missing"];
  if (state === undefined) return [];
  if (mark.journal !== state.journal) return ["the mark of its newest change is another file's"];
  if (mark.version <= state.version) return [];
  return [`its newest changes are missing: it ends at version ${state.version}, and ${mark.version} was acknowledged`];
}

/** Some names for a person to read. */
export function someOf(names: readonly string[]): string {
  const some = names.slice(0, MOST_NAMES).map(printable).join(", ");
  return names.length > MOST_NAMES ? `${some} and ${names.length - MOST_NAMES} more` : some;
}

/** Damaged bytes don't get to a terminal. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 200);
}

function unreadable(file: string, error: unknown): unknown {
  const { errcode, message } = error as { errcode?: number; message: string };
  if (errcode === undefined) return error;
  if ((errcode & 0xff) === 5)
    return new Fault("Invalid", file, "another process uses it", {
      remedy: "end the other Slipway, or choose another folder",
      cause: error,
    });
  return new Fault("MissingInput", file, `it can't be opened: ${message}`, { cause: error });
}

/** Every file of a journal. */
export function filesOf(file: string): string[] {
  return [file, `${file}-wal`, `${file}-shm`, markFile(file)];
}
