import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Clock } from "@slipway/base";

const BUSY = 5;
const LOOK_MS = 500;

/**
 * Runs `work` while no other process does so for the same folder; `waiting` is called once when another is first.
 * SQLite's lock on a file is the system's, so it ends with its holder however that ends.
 */
export async function withLock<T>(
  folder: string,
  clock: Clock,
  waiting: () => void,
  work: () => Promise<T>,
): Promise<T> {
  mkdirSync(folder, { recursive: true });
  const lock = new DatabaseSync(join(folder, ".lock"), { timeout: 0 });
  try {
    for (let tries = 0; !taken(lock); tries += 1) {
      if (tries === 0) waiting();
      await clock.sleep(LOOK_MS);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function taken(lock: DatabaseSync): boolean {
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === BUSY) return false;
    throw error;
  }
}
