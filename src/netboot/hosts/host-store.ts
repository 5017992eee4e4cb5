import type { DatabaseSync } from "node:sqlite";
import { diskFault, type Log, quietLog } from "@slipway/base";
import type { Inventory } from "../protocol/messages.ts";
import type { HostRecord } from "./host.ts";
import { openHostFile } from "./host-file.ts";
import { readRecord } from "./kept-record.ts";
import { MOST_PACKED_BYTES, unpack } from "./packed-inventory.ts";

/** Where records outlive the process. Inventories stay there; they are read one by one. */
export interface HostStore {
  /** All of them but their inventories, read one by one, the one that was silent longest first. Never throws: what is no record is set aside. */
  load(): Iterable<HostRecord>;
  /** The inventory that was written last; undefined: there is none. `textBytes`: how long it is. */
  inventoryOf(name: string): { inventory: Inventory; textBytes: number } | undefined;
  /**
   * On the disk when it returns. `inventories`: of those in `changed` that have a new one, packed. Throws a `Fault` (`Unavailable`) when they
   * can't be written; nothing is written then.
   */
  write(changed: readonly HostRecord[], gone: readonly string[], inventories?: ReadonlyMap<string, Uint8Array>): void;
  close(): void;
}

/** No record of ours is as long; it is not even read. */
const MOST_STATE_BYTES = 512 * 1024;

/** Rows that are no records, kept for inspection. */
const MOST_SET_ASIDE = 100;

/** Of one such row. */
const SET_ASIDE_BYTES = 64 * 1024;

type Row = { name: unknown; state: unknown; bytes: number | null };

/**
 * Records in an SQLite file that only its owner may read: orders hold addresses that are as good as passwords. Other processes of the
 * owner may read it at any time. Whatever the file holds, it opens: what can't be read is set aside and logged. Throws a `Fault`
 * (`MissingInput`) when there can be no file.
 */
export function openHostStore(file: string, log: Log = quietLog): HostStore {
  const db = openHostFile(file, log);
  const put = db.prepare(
    "INSERT INTO hosts VALUES (?, ?, NULL) ON CONFLICT (name) DO UPDATE SET state = excluded.state",
  );
  const putInventory = db.prepare("UPDATE hosts SET inventory = ? WHERE name = ?");
  const remove = db.prepare("DELETE FROM hosts WHERE name = ?");
  /** The last write failed, and the log says so. */
  let isFailing = false;
  const inventory = db.prepare("SELECT inventory FROM hosts WHERE name = ? AND length(inventory) <= ?");

  return {
    load: () => records(db, file, log),
    inventoryOf(name) {
      try {
        const row = inventory.get(name, MOST_PACKED_BYTES) as { inventory: unknown } | undefined;
        return row?.inventory instanceof Uint8Array ? unpack(row.inventory) : undefined;
      } catch (error) {
        // Not all damage shows when the file is opened. The machine reports it again when it boots.
        log.warn({ file, host: name, reason: (error as Error).message }, "a host's hardware can't be read");
        return undefined;
      }
    },
    write(changed, gone, inventories) {
      try {
        inTransaction(db, () => {
          for (const { host, ...rest } of changed) {
            put.run(host.name, JSON.stringify({ ...rest, host }));
            const packed = inventories?.get(host.name);
            if (packed !== undefined) putInventory.run(packed, host.name);
          }
          for (const name of gone) remove.run(name);
        });
      } catch (cause) {
        const fault = diskFault(file, cause, "Unavailable");
        if (!isFailing) log.error({ error: fault.advice }, "hosts can't be written: machines boot, orders are refused");
        isFailing = true;
        throw fault;
      }
      if (isFailing) log.info({ file }, "hosts are written again");
      isFailing = false;
    },
    close: () => db.close(),
  };
}

/** Sorted by SQLite, which does it in a file where there are many; only their numbers come here at once. */
const BY_SILENCE = `SELECT rowid AS id FROM hosts ORDER BY CASE
  WHEN length(state) <= ${MOST_STATE_BYTES} AND json_valid(state) THEN json_extract(state, '$.host.lastSeen') END`;

const ONE = `SELECT name, CASE WHEN length(state) <= ${MOST_STATE_BYTES} THEN state END AS state,
  CASE WHEN typeof(inventory) = 'blob' AND length(inventory) <= ${MOST_PACKED_BYTES} THEN length(inventory) END AS bytes
  FROM hosts WHERE rowid = ?`;

function* records(db: DatabaseSync, file: string, log: Log): Generator<HostRecord> {
  const bad: number[] = [];
  try {
    const one = db.prepare(ONE);
    const ids: number[] = [];
    for (const { id } of db.prepare(BY_SILENCE).iterate() as Iterable<{ id: number }>) ids.push(id);
    for (const id of ids) {
      const row = one.get(id) as Row | undefined;
      if (row === undefined) continue;
      const record = readRecord(row.name, row.state);
      if (record === undefined) bad.push(id);
      else yield sized(record, row.bytes ?? undefined);
    }
    if (bad.length === 0) return;
    setAside(db, bad);
  } catch (error) {
    log.error({ file, reason: (error as Error).message }, "hosts could not all be read");
  }
  if (bad.length > 0)
    log.error({ file, rows: bad.length, table: "set_aside" }, "rows that are no hosts were set aside");
}

/** With what its inventory takes; one that is not there was not reported. */
function sized({ host, inventoryBytes: _, ...rest }: HostRecord, inventoryBytes: number | undefined): HostRecord {
  if (inventoryBytes !== undefined) return { ...rest, host, inventoryBytes };
  const { inventoryAt: __, ...untold } = host;
  return { ...rest, host: untold };
}

function setAside(db: DatabaseSync, ids: readonly number[]): void {
  inTransaction(db, () => {
    db.exec("CREATE TABLE IF NOT EXISTS set_aside (name, state)");
    const keep = db.prepare(
      `INSERT INTO set_aside SELECT substr(name, 1, 256), substr(state, 1, ${SET_ASIDE_BYTES}) FROM hosts WHERE rowid = ?`,
    );
    const remove = db.prepare("DELETE FROM hosts WHERE rowid = ?");
    for (const id of ids.slice(-MOST_SET_ASIDE)) keep.run(id);
    for (const id of ids) remove.run(id);
    db.exec(
      `DELETE FROM set_aside WHERE rowid NOT IN (SELECT rowid FROM set_aside ORDER BY rowid DESC LIMIT ${MOST_SET_ASIDE})`,
    );
  });
}

/** Writes all of it or nothing. Throws what SQLite or `write` throws. */
function inTransaction(db: DatabaseSync, write: () => void): void {
  try {
    db.exec("BEGIN IMMEDIATE");
    write();
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
