import { DatabaseSync } from "node:sqlite";
import type { Clock, Timer } from "../../../base/clock.ts";
import { Fault } from "../../../base/fault.ts";
import type { Ipv4 } from "../wire/ipv4.ts";
import type { Lease, LeaseStore } from "./lease.ts";

const SCHEMA_VERSION = 1;

/** No client notices, and thousands of clients a second share a few hundred commits. */
const GATHER_MS = 2;

/**
 * Leases in an SQLite file, one commit for all that were put within two milliseconds (WAL, synchronous=FULL: on the disk when
 * `put` resolves). Other processes may read the file at any time. Leases of a commit that failed go with the next one.
 * Throws a `Fault` when a newer Slipway wrote the file.
 */
export function openLeases(file: string, clock: Pick<Clock, "after">): LeaseStore {
  const db = new DatabaseSync(file);
  try {
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 2000");
    const { user_version: found } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    if (found > SCHEMA_VERSION)
      throw new Fault("Invalid", file, `its format is ${found}, this Slipway reads up to ${SCHEMA_VERSION}`);
    db.exec(`
      CREATE TABLE IF NOT EXISTS leases (
        address INTEGER PRIMARY KEY, client TEXT NOT NULL, state TEXT NOT NULL, expires_at INTEGER NOT NULL);
      PRAGMA user_version = ${SCHEMA_VERSION};
    `);
  } catch (error) {
    db.close();
    throw error;
  }
  return storeOver(db, file, clock);
}

function storeOver(db: DatabaseSync, file: string, clock: Pick<Clock, "after">): LeaseStore {
  const write = db.prepare("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)");
  const queued = new Map<Ipv4, Lease>();
  let group: { written: PromiseWithResolvers<void>; timer: Timer } | undefined;

  const commit = (): void => {
    if (group === undefined) return;
    const { written, timer } = group;
    timer.cancel();
    group = undefined;
    try {
      db.exec("BEGIN IMMEDIATE");
      for (const { address, client, state, expiresAt } of queued.values()) write.run(address, client, state, expiresAt);
      db.exec("COMMIT");
      queued.clear();
      written.resolve();
    } catch (cause) {
      if (db.isTransaction) db.exec("ROLLBACK");
      written.reject(new Fault("Unavailable", file, "leases could not be written", { cause }));
    }
  };

  return {
    load() {
      const rows = db.prepare("SELECT address, client, state, expires_at AS expiresAt FROM leases ORDER BY address");
      return rows.all().map((row) => ({ ...row })) as unknown as Lease[];
    },
    put(lease) {
      queued.set(lease.address, lease);
      group ??= { written: Promise.withResolvers<void>(), timer: clock.after(GATHER_MS, commit) };
      return group.written.promise;
    },
    close() {
      commit();
      db.close();
    },
  };
}
