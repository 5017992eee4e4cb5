/** The SQLite file of the hosts, opened whatever it holds: made, brought to this format, or set aside and what is whole of it saved. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Fault, type Log, privateFile } from "@slipway/base";
import { Inventory } from "../protocol/messages.ts";
import { pack } from "./packed-inventory.ts";

/** 1: inventories as text. 2: packed (`packed-inventory.ts`). */
const SCHEMA_VERSION = 2;

/** The log of changes is cut to this once they are in the file. */
const MOST_LOG_BYTES = 16 * 1024 * 1024;

/** Longer texts were never written. */
const MOST_TEXT_BYTES = 2 * 1024 * 1024;

/** Rows that are brought to another format before what became of them is on the disk. */
const AT_ONCE = 500;

/**
 * The file, open, in this format. One that a newer Slipway wrote, or that is damaged, is renamed (`.format-9`, `.damaged`; at most one
 * of each is kept); a damaged one's whole rows are taken over. Throws a `Fault`: `MissingInput` when there can be no file, `Refused` for
 * one that belongs to another user.
 */
export function openHostFile(file: string, log: Log): DatabaseSync {
  try {
    const found = look(file);
    if (found.is === "good") return found.db;
    if (found.is === "newer") {
      const aside = setAside(file, `format-${found.version}`);
      log.error({ file, aside, format: found.version }, "a newer Slipway wrote the hosts; it begins without them");
      return create(file);
    }
    const aside = setAside(file, "damaged");
    const db = create(file);
    const saved = salvage(aside, db);
    log.error(
      { file, aside, saved, reason: found.because },
      "the file of hosts is damaged; what is whole of it is used",
    );
    upgrade(db);
    return db;
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault("MissingInput", file, `the file of hosts can't be opened: ${(cause as Error).message}`, { cause });
  }
}

type Found = { is: "good"; db: DatabaseSync } | { is: "newer"; version: number } | { is: "damaged"; because: string };

/** Errors of SQLite that say what is in the file, not whether it can be reached: SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR. */
const ABOUT_CONTENTS: ReadonlySet<number> = new Set([11, 26, 1]);

function look(file: string): Found {
  if (file !== ":memory:") {
    // The files that SQLite puts beside it get the same rights.
    privateFile(file);
    for (const suffix of ["-wal", "-shm"]) privateFile(file + suffix, { ifThere: true });
  }
  const db = new DatabaseSync(file);
  try {
    db.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 2000; PRAGMA journal_size_limit = ${MOST_LOG_BYTES}`,
    );
    const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    if (version > SCHEMA_VERSION) {
      db.close();
      return { is: "newer", version };
    }
    const [check] = Object.values(db.prepare("PRAGMA integrity_check(1)").get() ?? {});
    if (check !== "ok") throw Object.assign(new Error(String(check).slice(0, 200)), { errcode: 11 });
    db.exec("CREATE TABLE IF NOT EXISTS hosts (name TEXT PRIMARY KEY, state TEXT NOT NULL, inventory BLOB)");
    // It has the columns that are asked for.
    db.prepare("SELECT name, state, inventory FROM hosts LIMIT 0").all();
    if (version < SCHEMA_VERSION) upgrade(db);
    return { is: "good", db };
  } catch (error) {
    db.close();
    // Extended codes have the kind in their lowest byte.
    if (!ABOUT_CONTENTS.has(((error as { errcode?: number }).errcode ?? 0) & 0xff)) throw error;
    return { is: "damaged", because: (error as Error).message };
  }
}

function create(file: string): DatabaseSync {
  const found = look(file);
  if (found.is === "good") return found.db;
  throw new Error("a file that was just made can't be read");
}

/** Renames the file and what SQLite put beside it; returns its new name. */
function setAside(file: string, why: string): string {
  const aside = `${file}.${why}`;
  for (const suffix of ["", "-wal"])
    if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
    else rmSync(aside + suffix, { force: true });
  rmSync(`${file}-shm`, { force: true });
  return aside;
}

/** Copies what can be read, from the front and from the back, up to where the damage is; returns how many rows that are. */
function salvage(from: string, to: DatabaseSync): number {
  const insert = to.prepare("INSERT OR IGNORE INTO hosts VALUES (?, ?, ?)");
  for (const direction of ["ASC", "DESC"]) {
    let damaged: DatabaseSync | undefined;
    try {
      damaged = new DatabaseSync(from, { readOnly: true });
      to.exec("BEGIN IMMEDIATE");
      const rows = damaged.prepare(
        `SELECT name, state, inventory FROM hosts NOT INDEXED WHERE length(state) + ifnull(length(inventory), 0) < ${2 * MOST_TEXT_BYTES} ORDER BY rowid ${direction}`,
      );
      for (const { name, state, inventory } of rows.iterate()) insert.run(name!, state!, inventory!);
    } catch {
      // Here is the damage.
    }
    if (to.isTransaction) to.exec("COMMIT");
    damaged?.close();
  }
  return (to.prepare("SELECT count(*) AS count FROM hosts").get() as { count: number }).count;
}

/** Packs the inventories that are text; one that is none, or too large, is left out: the machine reports it again when it boots. */
function upgrade(db: DatabaseSync): void {
  const next = db.prepare(`SELECT rowid AS id,
    CASE WHEN length(inventory) <= ${MOST_TEXT_BYTES} THEN inventory END AS inventory FROM hosts
    WHERE rowid > ? AND typeof(inventory) NOT IN ('null', 'blob') ORDER BY rowid LIMIT 1`);
  const put = db.prepare(`UPDATE hosts SET inventory = ?, state = CASE WHEN json_valid(state) AND ? IS NOT NULL
    THEN json_set(state, '$.host.product', ?) ELSE state END WHERE rowid = ?`);
  for (let id = Number.MIN_SAFE_INTEGER, isMore = true; isMore; ) {
    db.exec("BEGIN IMMEDIATE");
    for (let count = 0; isMore && count < AT_ONCE; count++) {
      const row = next.get(id) as { id: number; inventory: unknown } | undefined;
      isMore = row !== undefined;
      if (row === undefined) break;
      id = row.id;
      const { packed, product = null } = repacked(row.inventory);
      put.run(packed, product, product, id);
    }
    db.exec("COMMIT");
  }
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  try {
    db.exec("VACUUM");
  } catch {
    // It stays as large as it was, and what is free in it is used.
  }
}

function repacked(text: unknown): { packed: Uint8Array | null; product?: string | undefined } {
  try {
    const inventory = Inventory.parse(JSON.parse(String(text)));
    return { packed: pack(inventory, "hosts"), product: inventory.system.product };
  } catch {
    return { packed: null };
  }
}
