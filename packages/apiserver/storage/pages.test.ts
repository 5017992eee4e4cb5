import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import fc from "fast-check";
import { rowsOf } from "./pages.ts";

const SIZE = 4096;

/** A table of 60 rows, of which the first 40 were deleted, and its write-ahead log. */
function sample(): { file: Buffer; wal: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), "pages-"));
  try {
    const path = join(folder, "db");
    const db = new DatabaseSync(path);
    db.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)");
    const insert = db.prepare("INSERT INTO t (name) VALUES (?)");
    for (let i = 0; i < 60; i++) insert.run(`${i} ${"x".repeat(i === 50 ? 20_000 : 1_000)}`);
    db.exec("PRAGMA wal_checkpoint(TRUNCATE); DELETE FROM t WHERE id <= 40");
    const found = { file: readFileSync(path), wal: readFileSync(`${path}-wal`) };
    db.close();
    return found;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const whole = sample();
const names = (file: Buffer, wal: Buffer): number[] =>
  [...rowsOf(file, wal)].flatMap(([, name]) => (typeof name === "string" ? [Number(name.split(" ")[0])] : []));

test("the rows of a whole file are those that SQLite would show: long ones too, deleted ones not", () => {
  const found = names(whole.file, whole.wal).filter((name) => !Number.isNaN(name));
  assert.deepEqual(
    found.toSorted((a, b) => a - b),
    Array.from({ length: 20 }, (_, i) => 40 + i),
  );
});

test("whatever stands in the pages, reading them ends without an error", () => {
  const pages = whole.file.length / SIZE;
  // Headers of pages and of the file matter most.
  const place = fc.record({ page: fc.nat(pages - 1), at: fc.oneof(fc.nat(120), fc.nat(SIZE - 4)) });
  const change = fc.record({ place, value: fc.oneof(fc.constantFrom(0, 0xffff_ffff, 1, 2), fc.nat(0xffff_ffff)) });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 20 }), fc.boolean(), (changes, hasLog) => {
      const file = Buffer.from(whole.file);
      for (const { place, value } of changes) file.writeUInt32BE(value >>> 0, place.page * SIZE + place.at);
      names(file, hasLog ? whole.wal : Buffer.alloc(0));
    }),
    { numRuns: 300 },
  );
});

test("a row without a byte, and a list of free pages that leads back to itself, are passed over", () => {
  const leaf = Buffer.alloc(SIZE);
  leaf[0] = 0x0d;
  leaf.writeUInt16BE(1, 3);
  leaf.writeUInt16BE(SIZE - 2, 8);
  const first = Buffer.alloc(SIZE);
  first.writeUInt16BE(SIZE, 16);
  first.writeUInt32BE(3, 32);
  const trunk = Buffer.alloc(SIZE);
  trunk.writeUInt32BE(3, 0);
  assert.deepEqual([...rowsOf(Buffer.concat([first, leaf, trunk]), Buffer.alloc(0))], []);
});
