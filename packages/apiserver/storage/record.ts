/** One object in the journal's file, and the checksums over one and over all of them. They detect accidents; they are no signature. */
import { crc32 } from "node:zlib";
import { type Random, uuid } from "@slipway/base";

/** Of the file (`user_version`). Format 1 had neither checksums nor a mark; it is read, and written anew as this one. */
export const FORMAT = 2;

/** The row of an object. */
export interface JournalRow {
  collection: string;
  key: string;
  /** The object as JSON. */
  value: string;
  /** `sumOf` the other three. */
  sum: number;
}

/** What the set of all rows has to be: kept in the same commit as the rows, so that a missing or an older one shows. */
export interface JournalState {
  /** Made anew with each file: whether the mark beside it belongs to it. */
  journal: string;
  /** The newest change. */
  version: number;
  count: number;
  /** The rows' sums, added up (mod 2^32). */
  total: number;
}

/** CRC-32 of a row. */
export function sumOf(collection: string, key: string, value: string): number {
  return crc32(value, crc32(`${collection}\n${key}\n`));
}

/** CRC-32 of a state. */
export function sumOfState({ journal, version, count, total }: JournalState): number {
  return crc32(`${journal} ${version} ${count} ${total}`);
}

/** `total` with one row's sum more (and, given `before`, one less). */
export function addSum(total: number, sum: number, before = 0): number {
  return (total + sum - before) >>> 0;
}

/** The state of a file that is made of these rows. */
export function fresh(rows: readonly JournalRow[], version: number, random: Random): JournalState {
  const total = rows.reduce((sum, row) => addSum(sum, row.sum), 0);
  return { journal: uuid(random), version, count: rows.length, total };
}
