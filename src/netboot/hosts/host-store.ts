import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../../base/fault.ts";
import type { Inventory } from "../agent/protocol.ts";
import type { HostRecord } from "./host.ts";

/** Where records outlive the process. */
export interface HostStore {
  /** All of them, read once at the start. */
  load(): HostRecord[];
  /** On the disk when it returns. Throws a `Fault` (`Unavailable`) when they can't be written; nothing is written then. */
  write(changed: readonly HostRecord[], gone: readonly string[]): void;
  close(): void;
}

const SCHEMA_VERSION = 1;

type Row = { state: string; inventory: string | null };

/**
 * Records in an SQLite file that only its owner may read: orders hold addresses that are as good as passwords. Other processes of the
 * owner may read it at any time. Throws a `Fault` when it can't be opened or a newer Slipway wrote it.
 */
export function openHostStore(file: string): HostStore {
  const db = open(file);
  const select = db.prepare("SELECT state, inventory FROM hosts ORDER BY name");
  const put = db.prepare(
    "INSERT INTO hosts VALUES (?, ?, NULL) ON CONFLICT (name) DO UPDATE SET state = excluded.state",
  );
  const putInventory = db.prepare("UPDATE hosts SET inventory = ? WHERE name = ?");
  const remove = db.prepare("DELETE FROM hosts WHERE name = ?");
  /** An inventory is a hundred times as long as the rest and changes a hundred times as rarely. */
  const written = new Map<string, Inventory | undefined>();

  return {
    load: () =>
      (select.all() as Row[]).map(({ state, inventory }) => {
        const record = JSON.parse(state) as HostRecord;
        if (inventory === null) return record;
        const host = { ...record.host, inventory: JSON.parse(inventory) as Inventory };
        written.set(host.name, host.inventory);
        return { ...record, host };
      }),
    write(changed, gone) {
      try {
        db.exec("BEGIN IMMEDIATE");
        for (const record of changed) {
          const { inventory, ...host } = record.host;
          put.run(host.name, JSON.stringify({ ...record, host }));
          if (inventory !== written.get(host.name))
            putInventory.run(inventory === undefined ? null : JSON.stringify(inventory), host.name);
        }
        for (const name of gone) remove.run(name);
        db.exec("COMMIT");
      } catch (cause) {
        if (db.isTransaction) db.exec("ROLLBACK");
        throw new Fault("Unavailable", file, `hosts could not be written: ${(cause as Error).message}`, { cause });
      }
      for (const { host } of changed) written.set(host.name, host.inventory);
      for (const name of gone) written.delete(name);
    },
    close: () => db.close(),
  };
}

function open(file: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    // The files that SQLite puts beside it get the same rights.
    if (file !== ":memory:") closeSync(openSync(file, "a", 0o600));
    db = new DatabaseSync(file);
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 2000");
    const { user_version: found } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    if (found > SCHEMA_VERSION)
      throw new Fault("Invalid", file, `its format is ${found}, this Slipway reads up to ${SCHEMA_VERSION}`);
    db.exec(`
      CREATE TABLE IF NOT EXISTS hosts (name TEXT PRIMARY KEY, state TEXT NOT NULL, inventory TEXT);
      PRAGMA user_version = ${SCHEMA_VERSION};
    `);
    return db;
  } catch (cause) {
    db?.close();
    if (cause instanceof Fault) throw cause;
    throw new Fault("MissingInput", file, `the file of hosts can't be opened: ${(cause as Error).message}`, { cause });
  }
}
