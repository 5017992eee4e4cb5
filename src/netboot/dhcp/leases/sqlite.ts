import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { promisify } from "node:util";
import type { Clock, Timer } from "../../../base/clock.ts";
import { Fault } from "../../../base/fault.ts";
import type { Ipv4 } from "../wire/ipv4.ts";
import type { Lease, LeaseStore } from "./lease.ts";

const SCHEMA_VERSION = 1;

/** No client notices, and thousands of clients a second share some hundred commits. */
const GATHER_MS = 4;

/** The log is copied into the file in bulk, once it has so many pages: while that is done, no client is answered. */
const LOG_PAGES = 8192;

const synced = promisify(fdatasync);

/**
 * Leases in an SQLite file, one commit for all that were put within some milliseconds; they are on the disk when `put` resolves. Other
 * processes may read the file at any time. Leases of a commit that failed go with the next one.
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
      PRAGMA wal_autocheckpoint = ${LOG_PAGES};
      PRAGMA synchronous = NORMAL;
    `);
    return new SqliteLeases(db, file, clock);
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * SQLite would wait for the disk at each commit, and every client with it. With `synchronous = NORMAL` it only writes to its log, in an
 * order that keeps the file whole whatever happens, and the log is brought to the disk here, while the next leases are gathered.
 */
class SqliteLeases implements LeaseStore {
  readonly #db: DatabaseSync;
  readonly #file: string;
  readonly #clock: Pick<Clock, "after">;
  readonly #write: StatementSync;
  readonly #log: number;
  /** What is not known to be on the disk and not on its way there. */
  readonly #queued = new Map<Ipv4, Lease>();
  #group: { written: PromiseWithResolvers<void>; timer: Timer } | undefined;
  #syncing = false;
  #closed = false;

  constructor(db: DatabaseSync, file: string, clock: Pick<Clock, "after">) {
    this.#db = db;
    this.#file = file;
    this.#clock = clock;
    this.#write = db.prepare("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)");
    // It is there since something was just written, and stays until the last process closes the file.
    this.#log = openSync(`${file}-wal`, "r");
  }

  load(): Lease[] {
    const rows = this.#db.prepare(
      "SELECT address, client, state, expires_at AS expiresAt FROM leases ORDER BY address",
    );
    return rows.all().map((row) => ({ ...row })) as unknown as Lease[];
  }

  put(lease: Lease): Promise<void> {
    this.#queued.set(lease.address, lease);
    this.#group ??= {
      written: Promise.withResolvers<void>(),
      timer: this.#clock.after(GATHER_MS, () => this.#commit()),
    };
    return this.#group.written.promise;
  }

  close(): void {
    this.#closed = true;
    const group = this.#group;
    this.#group = undefined;
    group?.timer.cancel();
    try {
      if (this.#queued.size > 0) this.#insert();
      fdatasyncSync(this.#log);
      group?.written.resolve();
    } catch (cause) {
      group?.written.reject(this.#failed(cause));
    }
    if (!this.#syncing) closeSync(this.#log);
    this.#db.close();
  }

  #commit(): void {
    // The disk takes one group after the other; the one behind grows meanwhile.
    if (this.#syncing || this.#group === undefined) return;
    const { written, timer } = this.#group;
    timer.cancel();
    this.#group = undefined;
    let sent: readonly Lease[];
    try {
      sent = this.#insert();
    } catch (cause) {
      written.reject(this.#failed(cause));
      return;
    }
    this.#syncing = true;
    synced(this.#log).then(
      () => this.#after(written.resolve),
      (cause: unknown) => {
        for (const lease of sent) if (!this.#queued.has(lease.address)) this.#queued.set(lease.address, lease);
        this.#after(() => written.reject(this.#failed(cause)));
      },
    );
  }

  #after(tell: () => void): void {
    this.#syncing = false;
    tell();
    if (this.#closed) closeSync(this.#log);
    else this.#commit();
  }

  /** Writes what is queued to the log, and returns it; on failure it stays queued. */
  #insert(): Lease[] {
    const leases = [...this.#queued.values()];
    try {
      this.#db.exec("BEGIN IMMEDIATE");
      for (const { address, client, state, expiresAt } of leases) this.#write.run(address, client, state, expiresAt);
      this.#db.exec("COMMIT");
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
    this.#queued.clear();
    return leases;
  }

  #failed(cause: unknown): Fault {
    return new Fault("Unavailable", this.#file, "leases could not be written", { cause });
  }
}
