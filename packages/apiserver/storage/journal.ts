import type { Clock, Random } from "@slipway/base";
import type { Body } from "../model/served.ts";

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
  /** Once, before the first commit. */
  load(visit: (entry: { collection: string; key: string; object: Body }) => void): { version: number };
  /** Throws a `Fault` that names the disk when it can't be written; nothing of it is kept then, and it may be tried again. */
  commit(entries: Iterable<JournalEntry>, version: number): void;
  close(): void;
}

export interface JournalPorts {
  clock: Pick<Clock, "after" | "now">;
  random: Random;
}
