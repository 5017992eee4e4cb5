import { DatabaseSync, type StatementSync } from "node:sqlite";
import { diskFault, privateFile } from "@slipway/base";
import type { LoadedRow } from "./inspect.ts";
import type { Journal, JournalEntry } from "./journal.ts";
import type { MarkWriter } from "./mark.ts";
import { addSum, FORMAT, type JournalRow, type JournalState, sumOf, sumOfState } from "./record.ts";

const INSERT = "INSERT INTO objects (collection, key, value, sum) VALUES (?, ?, ?, ?)";

/** Opens the file for this process alone. */
export function openFile(file: string): DatabaseSync {
  // The files that SQLite puts beside it get the same rights.
  privateFile(file);
  const db = new DatabaseSync(file);
  try {
    db.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA locking_mode = EXCLUSIVE; PRAGMA busy_timeout = 2000",
    );
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

/** Puts these rows and this state in place of what is there, atomically. */
export function writeWhole(db: DatabaseSync, rows: readonly JournalRow[], state: JournalState): void {
  db.exec(`
    BEGIN IMMEDIATE;
    DROP TABLE IF EXISTS objects;
    DROP TABLE IF EXISTS counter;
    CREATE TABLE objects (id INTEGER PRIMARY KEY, collection TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, sum INTEGER NOT NULL);
    CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), journal TEXT NOT NULL, version INTEGER NOT NULL,
      count INTEGER NOT NULL, total INTEGER NOT NULL, sum INTEGER NOT NULL);
    PRAGMA user_version = ${FORMAT};
  `);
  const insert = db.prepare(INSERT);
  for (const { collection, key, value, sum } of rows) insert.run(collection, key, value, sum);
  const { journal, version, count, total } = state;
  db.prepare("INSERT INTO state VALUES (1, ?, ?, ?, ?, ?)").run(journal, version, count, total, sumOfState(state));
  db.exec("COMMIT");
}

interface Known {
  id: number;
  sum: number;
}

/** An open file and the mark beside it. */
interface Opened {
  file: string;
  db: DatabaseSync;
  mark: MarkWriter;
}

/** The file while it is written: rows are found by the ids that were read or given at first, so a commit costs no look into an index. */
export class SqliteJournal implements Journal {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #mark: MarkWriter;
  readonly #known = new Map<string, Known>();
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #delete: StatementSync;
  readonly #setState: StatementSync;
  #state: JournalState;
  #rows: LoadedRow[];

  /** `held`: what the file holds. */
  constructor({ file, db, mark }: Opened, held: { rows: LoadedRow[]; state: JournalState }) {
    this.#file = file;
    this.#db = db;
    this.#mark = mark;
    this.#rows = held.rows;
    this.#state = held.state;
    this.#insert = db.prepare(INSERT);
    this.#update = db.prepare("UPDATE objects SET value = ?, sum = ? WHERE id = ?");
    this.#delete = db.prepare("DELETE FROM objects WHERE id = ?");
    this.#setState = db.prepare("UPDATE state SET version = ?, count = ?, total = ?, sum = ?");
  }

  load(visit: Parameters<Journal["load"]>[0]): { version: number } {
    const rows = this.#rows.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    this.#rows = [];
    for (const { id, sum, ...row } of rows) {
      this.#known.set(nameOf(row), { id, sum });
      visit(row);
    }
    return { version: this.#state.version };
  }

  commit(entries: Iterable<JournalEntry>, version: number): void {
    const changed = new Map<string, Known | undefined>();
    let { count, total } = this.#state;
    try {
      this.#db.exec("BEGIN IMMEDIATE");
      for (const entry of entries) {
        const name = nameOf(entry);
        const before = this.#known.get(name);
        const after = this.#write(entry, before);
        changed.set(name, after);
        count += (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
        total = addSum(total, after?.sum ?? 0, before?.sum);
      }
      const state = { ...this.#state, version, count, total };
      this.#setState.run(version, count, total, sumOfState(state));
      this.#db.exec("COMMIT");
      this.#state = state;
    } catch (error) {
      this.#rollBack();
      throw diskFault(this.#file, error);
    }
    for (const [name, after] of changed) {
      if (after === undefined) this.#known.delete(name);
      else this.#known.set(name, after);
    }
    this.#mark.note(version);
  }

  close(): void {
    this.#db.close();
    this.#mark.close();
  }

  #write({ collection, key, object }: JournalEntry, before: Known | undefined): Known | undefined {
    if (object === undefined) {
      if (before !== undefined) this.#delete.run(before.id);
      return undefined;
    }
    const value = JSON.stringify(object);
    const sum = sumOf(collection, key, value);
    if (before === undefined) return { id: Number(this.#insert.run(collection, key, value, sum).lastInsertRowid), sum };
    this.#update.run(value, sum, before.id);
    return { id: before.id, sum };
  }

  /** SQLite may have done so by itself. */
  #rollBack(): void {
    try {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
    } catch {
      // A disk that fails here as well fails the next commit, too.
    }
  }
}

function nameOf({ collection, key }: { collection: string; key: string }): string {
  return `${collection}\n${key}`;
}
