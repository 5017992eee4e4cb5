/**
 * Moving a tenant's objects to another DataStore: what is next, decided by what is written on the object alone, so that any replica goes on
 * where another one died. Pure.
 *
 * The status says where the objects are (`storage.dataStoreName`), the specification where they are to be. A record, announced before
 * anything is made at the target, says that what is there now is a copy, and may be removed. Until the status names the target, the copy
 * is worth nothing; from then on, what is left at the source is.
 */

/** The annotation's content. */
export interface Migration {
  from: string;
  to: string;
}

export interface MigrationFacts {
  /** The DataStore that the specification names. */
  wanted: string;
  /** Where the objects are; undefined: nowhere yet. */
  at: string | undefined;
  record: Migration | undefined;
}

export type MigrationStep =
  /** Nothing is to be moved. */
  | { do: "stay"; at: string }
  /** Write the record, after a look at the target. `turnsBack`: what is at the target is the tenant's own former place. */
  | { do: "announce"; from: string; to: string; turnsBack: boolean }
  /** With the API server stopped: empty the target, copy, compare, and name it in the status. */
  | { do: "copy"; record: Migration }
  /** It is no longer wanted there: remove what is at the target, and the record. The tenant goes on where it is. */
  | { do: "abandon"; record: Migration }
  /** The tenant serves from the target. When it is ready: remove what is at the source, and the record. */
  | { do: "clean"; record: Migration }
  | { do: "refuse"; because: string };

/** The next step of a move. Safe to ask again: the same facts give the same step. */
export function migrationStep({ wanted, at, record }: MigrationFacts): MigrationStep {
  if (at === undefined) return { do: "stay", at: wanted };
  if (record === undefined)
    return at === wanted ? { do: "stay", at } : { do: "announce", from: at, to: wanted, turnsBack: false };
  if (record.from === at) return record.to === wanted ? { do: "copy", record } : { do: "abandon", record };
  if (record.to !== at)
    return {
      do: "refuse",
      because: `it is about a move from ${record.from} to ${record.to}, and the objects are in ${at}`,
    };
  // Its way back needs no ready tenant: that it can't be used there may be why it is to go back.
  if (record.from === wanted) return { do: "announce", from: at, to: wanted, turnsBack: true };
  return { do: "clean", record };
}

/** Where the tenant's objects are to be reached by this step; undefined: the API server is to be stopped for it. */
export function servesAt(step: MigrationStep, at: string | undefined): string | undefined {
  return step.do === "copy" ? undefined : step.do === "stay" ? step.at : at;
}

/** The record as the annotation has it: `FROM/TO`, since no DataStore's name has a slash. */
export function writeMigration({ from, to }: Migration): string {
  return `${from}/${to}`;
}

/** Undefined: there is none. Throws `RangeError` for what is none. */
export function readMigration(text: string | undefined): Migration | undefined {
  if (text === undefined) return undefined;
  const [, from, to] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (from === undefined || to === undefined) throw new RangeError(`${JSON.stringify(text)} is not FROM/TO`);
  return { from, to };
}
