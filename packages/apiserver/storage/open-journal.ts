import { diskFault, Fault, privateFile } from "@slipway/base";
import { filesOf, inspect, type LoadedRow } from "./inspect.ts";
import type { Journal, JournalPorts } from "./journal.ts";
import { MarkWriter, syncFolderOf } from "./mark.ts";
import { FORMAT, fresh } from "./record.ts";
import { repair } from "./repair.ts";
import { openFile, SqliteJournal, writeWhole } from "./sqlite-journal.ts";

/**
 * Opens the file or makes it. Its content is compared with its checksums and the mark beside it first (`inspect`): a damaged one is
 * refused with what is lost, and left as it is. `onRepair`: it is repaired instead, and this is called with what was found and done. Throws a
 * `Fault` also when a newer Slipway wrote it or another process uses it.
 */
export function openJournal(file: string, ports: JournalPorts, onRepair?: (report: string[]) => void): Journal {
  for (const part of filesOf(file)) privateFile(part, { ifThere: true });
  const found = undamaged(file, ports, onRepair);
  const before = found.is === "whole" ? found.state : undefined;
  const rows = found.is === "whole" ? found.rows : [];
  const isNew = found.is === "new" || found.format < FORMAT;
  const state = isNew ? fresh(rows, before?.version ?? 0, ports.random) : before!;
  // Before the file: one without a mark is never what an interrupted start left behind. At 0 nothing was acknowledged.
  const mark = new MarkWriter(file, isNew ? { ...state, version: 0 } : state, ports.clock);
  try {
    const db = openFile(file);
    try {
      if (isNew) {
        writeWhole(db, rows, state);
        mark.note(state.version);
      }
      syncFolderOf(file);
      return new SqliteJournal({ file, db, mark }, { rows: isNew ? inOrder(rows) : rows, state });
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    mark.close();
    throw diskFault(file, error);
  }
}

/** What the file holds, once it is repaired where that is wanted. */
function undamaged(file: string, ports: JournalPorts, onRepair: ((report: string[]) => void) | undefined) {
  const found = inspect(file);
  if (found.is !== "damaged") return found;
  if (onRepair === undefined) throw refusal(file, found.what);
  onRepair([...found.what.map((what) => `${file}: ${what}`), ...repair(file, ports)]);
  const repaired = inspect(file);
  if (repaired.is === "damaged") throw refusal(file, repaired.what);
  return repaired;
}

/** With the ids that rows get which are written one after the other. */
function inOrder(rows: readonly LoadedRow[]): LoadedRow[] {
  return rows.map((row, i) => ({ ...row, id: i + 1 }));
}

function refusal(file: string, what: readonly string[]): Fault {
  return new Fault("Invalid", file, `the journal is damaged: ${what.join("; ")}`, {
    remedy:
      "put a copy of its folder back, or start with --repair: it keeps what is whole and moves the damaged file aside",
  });
}
