import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Body } from "../served.ts";

/** One object as the journal keeps it. `object` undefined: it is gone. */
export interface JournalEntry {
  collection: string;
  key: string;
  object: Body | undefined;
}

/**
 * The durable copy of the store: the newest state of each object and the version counter, in one SQLite file.
 * `commit` is atomic and, when it returns, on the disk (WAL with synchronous=FULL).
 */
export interface Journal {
  load(visit: (entry: { collection: string; key: string; object: Body }) => void): { version: number };
  commit(entries: Iterable<JournalEntry>, version: number): void;
  close(): void;
}

const SCHEMA_VERSION = 1;

/** Opens or makes the file. Throws when it was written by a newer Slipway, or is in use by another process. */
export function openJournal(file: string): Journal {
  const db = new DatabaseSync(file);
  try {
    db.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA locking_mode = EXCLUSIVE; PRAGMA busy_timeout = 2000",
    );
    const { user_version: found } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    if (found > SCHEMA_VERSION)
      throw new Error(`${file} has format ${found}; this Slipway reads up to ${SCHEMA_VERSION}`);
    db.exec(`
      CREATE TABLE IF NOT EXISTS objects (collection TEXT, key TEXT, value TEXT NOT NULL, PRIMARY KEY (collection, key)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL);
      PRAGMA user_version = ${SCHEMA_VERSION};
    `);
  } catch (error) {
    db.close();
    throw error;
  }
  return journalOver(db);
}

function journalOver(db: DatabaseSync): Journal {
  const put = db.prepare("INSERT INTO objects VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value");
  const drop = db.prepare("DELETE FROM objects WHERE collection = ? AND key = ?");
  const count = db.prepare("INSERT INTO counter VALUES (1, ?) ON CONFLICT DO UPDATE SET version = excluded.version");
  return {
    load(visit) {
      const rows = db.prepare("SELECT collection, key, value FROM objects ORDER BY collection, key");
      for (const row of rows.iterate() as Iterable<{ collection: string; key: string; value: string }>)
        visit({ collection: row.collection, key: row.key, object: JSON.parse(row.value) as Body });
      const counter = db.prepare("SELECT version FROM counter").get() as { version: number } | undefined;
      return { version: counter?.version ?? 0 };
    },
    commit(entries, version) {
      db.exec("BEGIN IMMEDIATE");
      try {
        for (const entry of entries) write(entry, put, drop);
        count.run(version);
        db.exec("COMMIT");
      } catch (error) {
        if (db.isTransaction) db.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => db.close(),
  };
}

function write({ collection, key, object }: JournalEntry, put: StatementSync, drop: StatementSync): void {
  if (object === undefined) drop.run(collection, key);
  else put.run(collection, key, JSON.stringify(object));
}
