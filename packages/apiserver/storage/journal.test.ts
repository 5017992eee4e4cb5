import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { systemClock as clock, isFault, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Body } from "../model/served.ts";
import { openJournal } from "./open-journal.ts";

const random = seededRandom(1);
const ports = { clock, random };

function fileFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "journal-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, "kubernetes.db");
}

const body = (version: number, more = ""): Body =>
  ({ kind: "X", metadata: { resourceVersion: String(version) }, value: `v${version}${more}` }) as unknown as Body;
const nameOf = (i: number): string => `n-${String(i).padStart(4, "0")}`;

/** A journal in which `count` objects were written, four at a time, as a kill leaves it (`killed`) or closed. */
function written(file: string, count: number, { killed = false, more = "" } = {}): void {
  const live = killed ? join(dirname(file), "live") : file;
  const journal = openJournal(live, ports);
  journal.load(() => {});
  for (let i = 1; i <= count; i += 4) {
    const part = [i, i + 1, i + 2, i + 3].filter((at) => at <= count);
    journal.commit(
      part.map((at) => ({ collection: "c", key: nameOf(at), object: body(at, more) })),
      part.at(-1)!,
    );
  }
  if (killed) for (const part of ["", "-wal", "-mark"]) copyFileSync(live + part, file + part);
  journal.close();
  if (killed) for (const part of ["", "-mark"]) rmSync(live + part);
}

function loaded(file: string, onRepair?: (report: string[]) => void): { names: string[]; version: number } {
  const journal = openJournal(file, ports, onRepair);
  const names: string[] = [];
  const { version } = journal.load(({ key }) => names.push(key));
  journal.close();
  return { names, version };
}

const refused = (file: string, words: RegExp): void =>
  assert.throws(
    () => loaded(file),
    (error) => {
      assert.ok(isFault(error, "Invalid"), String(error));
      assert.match(error.message, words);
      assert.match(error.remedy ?? "", /--repair/);
      return true;
    },
  );

function flip(file: string, at: number, bit = 0): void {
  const bytes = readFileSync(file);
  bytes[at]! ^= 1 << bit;
  writeFileSync(file, bytes);
}

test("what was committed is there again, whether the process was killed or not", (t) => {
  for (const killed of [false, true]) {
    const file = fileFor(t);
    written(file, 300, { killed });
    assert.deepEqual(loaded(file), { names: Array.from({ length: 300 }, (_, i) => nameOf(i + 1)), version: 300 });
    assert.equal(loaded(file).names.length, 300);
  }
});

test("a flipped bit in an object is refused by its name, and the repair drops that one alone", (t) => {
  const file = fileFor(t);
  written(file, 600);
  flip(file, readFileSync(file).indexOf('"value":"v300"') + 10);
  refused(file, /1 damaged: c\/n-0300; 1 of 600 objects can't be read/);
  const report: string[] = [];
  const after = loaded(file, (lines) => report.push(...lines));
  assert.equal(after.names.length, 599);
  assert.ok(!after.names.includes("n-0300"));
  assert.ok(after.version > 600, "no version is given twice");
  assert.match(
    report.join("\n"),
    /599 objects are kept\n1 of 600 objects are lost\nlost, as far as names can be read: c\/n-0300\n/,
  );
  const aside = readdirSync(dirname(file)).filter((name) => name.includes(".damaged-"));
  assert.deepEqual(
    aside.map((name) => name.replace(/damaged-.*/, "damaged")),
    ["kubernetes.db-mark.damaged", "kubernetes.db.damaged"],
  );
  assert.equal(loaded(file).names.length, 599, "the next start is an ordinary one");
});

test("a journal both of whose marks are damaged is refused, and the repair keeps its objects", (t) => {
  const file = fileFor(t);
  written(file, 40);
  for (const at of [0, 4096]) flip(`${file}-mark`, at);
  refused(file, /the mark of its newest change can't be read/);
  assert.equal(loaded(file, () => {}).names.length, 40);
});

test("no flipped bit anywhere is taken in silence, nor costs more than its page", (t) => {
  const original = fileFor(t);
  written(original, 400);
  const killed = fileFor(t);
  written(killed, 400, { killed: true });
  for (let round = 0; round < 40; round++) {
    const source = round % 2 === 0 ? original : killed;
    const file = fileFor(t);
    for (const part of ["", "-wal", "-mark"]) if (existsSync(source + part)) copyFileSync(source + part, file + part);
    const target = round % 2 === 1 && round % 4 === 1 ? `${file}-wal` : file;
    const at = random.int(readFileSync(target).length);
    flip(target, at, random.int(8));
    const where = `bit at ${at} of ${basename(target)}`;
    let found: ReturnType<typeof loaded>;
    try {
      found = loaded(file);
    } catch (error) {
      assert.ok(isFault(error), `${where}: ${error}`);
      const after = loaded(file, () => {});
      assert.ok(after.names.length >= 300, `${where}: ${after.names.length} of 400 kept`);
      continue;
    }
    assert.equal(found.names.length, 400, where);
    assert.equal(found.version, 400, where);
  }
});

test("a write-ahead log that was deleted or cut off is refused with the versions that are missing", (t) => {
  const gone = fileFor(t);
  written(gone, 50);
  const more = openJournal(gone, ports);
  more.load(() => {});
  for (let i = 51; i <= 141; i++) more.commit([{ collection: "c", key: nameOf(i), object: body(i) }], i);
  const file = fileFor(t);
  for (const part of ["", "-mark"]) copyFileSync(gone + part, file + part);
  refused(file, /its newest changes are missing: it ends at version 50, and 141 was acknowledged/);

  for (const part of ["", "-wal", "-mark"]) copyFileSync(gone + part, file + part);
  truncateSync(`${file}-wal`, readFileSync(`${file}-wal`).length - 3 * 4120);
  refused(file, /it ends at version 13\d, and 141 was acknowledged/);
  more.close();
  const report: string[] = [];
  const after = loaded(file, (lines) => report.push(...lines));
  assert.ok(after.names.length >= 130 && after.version > 141);
  assert.match(report.join("\n"), /every change after version 13\d, up to 141, is lost/);
});

test("a missing row, an older row and an older file are refused, though every row is whole", (t) => {
  const file = fileFor(t);
  written(file, 20);
  const older = readFileSync(file);
  const db = new DatabaseSync(file);
  db.exec("DELETE FROM objects WHERE key = 'n-0007'");
  db.close();
  refused(file, /1 of 20 objects can't be read/);

  const other = fileFor(t);
  written(other, 20);
  const journal = openJournal(other, ports);
  journal.load(() => {});
  journal.commit([{ collection: "c", key: nameOf(7), object: body(21) }], 21);
  journal.close();
  const rows = new DatabaseSync(file).prepare("SELECT value, sum FROM objects WHERE key = 'n-0008'").get() as {
    value: string;
  };
  assert.ok(rows);
  const mixed = new DatabaseSync(other);
  writeFileSync(`${other}.older`, older);
  mixed.exec(`ATTACH '${other}.older' AS older;
    UPDATE objects SET (value, sum) = (SELECT value, sum FROM older.objects o WHERE o.key = objects.key) WHERE key = 'n-0007'`);
  mixed.close();
  refused(other, /some of its objects are older than its newest change/);

  writeFileSync(other, older);
  refused(other, /the mark of its newest change is another file's/);
});

test("an empty or missing file where a journal was is refused; a new folder is not", (t) => {
  const file = fileFor(t);
  written(file, 20);
  writeFileSync(file, "");
  refused(file, /the file is empty; 20 was the version of its newest change/);
  rmSync(file);
  refused(file, /the file is missing; 20 was/);
  rmSync(`${file}-mark`);
  assert.deepEqual(loaded(file).names, []);
  rmSync(`${file}-mark`);
  refused(file, /the mark of its newest change is missing/);
  writeFileSync(file, "");
  refused(file, /the file is empty$/);
  writeFileSync(file, "not a database at all".repeat(400));
  refused(file, /can't be read as a database/);
  assert.deepEqual(loaded(file, () => {}).names, []);
});

test("a refusal leaves every file as it was", (t) => {
  const file = fileFor(t);
  written(file, 100, { killed: true });
  flip(`${file}-wal`, 200_000);
  const bytes = (): string[] => ["", "-wal", "-mark"].map((part) => readFileSync(file + part).toString("base64"));
  const before = bytes();
  refused(file, /newest changes are missing/);
  assert.deepEqual(bytes(), before);
});

/** As Slipway 0.x wrote it. */
function oldFormat(file: string, count: number, more = ""): void {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE objects (collection TEXT, key TEXT, value TEXT NOT NULL, PRIMARY KEY (collection, key)) WITHOUT ROWID;
    CREATE TABLE counter (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL);
    PRAGMA user_version = 1; BEGIN`);
  const put = db.prepare("INSERT INTO objects VALUES ('c', ?, ?)");
  for (let i = 1; i <= count; i++) put.run(nameOf(i), JSON.stringify(body(i, more)));
  db.exec(`INSERT INTO counter VALUES (1, ${count}); COMMIT`);
  db.close();
}

test("a journal of the format without checksums is read and gets them", (t) => {
  const file = fileFor(t);
  oldFormat(file, 100, "x".repeat(3000));
  const names = Array.from({ length: 100 }, (_, i) => nameOf(i + 1));
  assert.deepEqual(loaded(file), { names, version: 100 });
  assert.deepEqual(loaded(file), { names, version: 100 });
  flip(file, readFileSync(file).indexOf('"value":"v50x') + 12);
  refused(file, /c\/n-0050/);
});

test("an old journal that SQLite finds damaged is refused and repaired as well", (t) => {
  const file = fileFor(t);
  oldFormat(file, 100, "x".repeat(900));
  // The header of a page in the middle.
  flip(file, 4096 * 20, 3);
  refused(file, /the journal is damaged/);
  assert.ok(loaded(file, () => {}).names.length >= 90);
});

test("objects of any length survive a repair", (t) => {
  const file = fileFor(t);
  const journal = openJournal(file, ports);
  journal.load(() => {});
  const lengths = [1, 3900, 3990, 4000, 4010, 4020, 4030, 4040, 4050, 4061, 4100, 8200, 12_345, 300_000];
  for (const [i, length] of lengths.entries())
    journal.commit([{ collection: "c", key: nameOf(i), object: body(i, "y".repeat(length)) }], i + 1);
  journal.close();
  rmSync(`${file}-mark`);
  assert.equal(loaded(file, () => {}).names.length, lengths.length);
});

test("a newer Slipway's file and one in use by another process are refused without talk of a repair", (t) => {
  const file = fileFor(t);
  const journal = openJournal(file, ports);
  journal.load(() => {});
  journal.commit([], 1);
  assert.throws(
    () => openJournal(file, ports, () => assert.fail("nothing is repaired")),
    (error) => isFault(error, "Invalid") && /another process uses it/.test(error.message),
  );
  journal.close();
  const db = new DatabaseSync(file);
  db.exec("PRAGMA user_version = 3");
  db.close();
  assert.throws(() => openJournal(file, ports, () => assert.fail("nothing is repaired")), /its format is 3/);
});

test("a closed journal leaves no timer and no open file, whether its mark was on its way to the disk or not", async (t) => {
  const openFiles = (folder: string): string[] =>
    readdirSync("/proc/self/fd").flatMap((fd) => {
      try {
        const path = readlinkSync(`/proc/self/fd/${fd}`);
        return path.startsWith(folder) ? [path] : [];
      } catch {
        return [];
      }
    });
  for (const waitMs of [0, 500, 1_000]) {
    const file = fileFor(t);
    const virtual = new VirtualClock();
    const journal = openJournal(file, { clock: virtual, random });
    journal.load(() => {});
    journal.commit([{ collection: "c", key: "k", object: body(2) }], 2);
    assert.equal(virtual.pending, 1);
    await virtual.run(waitMs);
    journal.close();
    assert.equal(virtual.pending, 0);
    // A sync that is under way ends by itself.
    while (openFiles(dirname(file)).length > 0 && waitMs === 1_000) await new Promise(setImmediate);
    assert.deepEqual(openFiles(dirname(file)), [], `closed after ${waitMs} ms`);
  }
});

test("a repair says how many objects are lost also where a damaged one is read after that number", (t) => {
  const file = fileFor(t);
  written(file, 300);
  const db = new DatabaseSync(file);
  db.exec("UPDATE objects SET value = CAST(value AS BLOB) WHERE id = 300");
  db.close();
  const report: string[] = [];
  assert.equal(loaded(file, (lines) => report.push(...lines)).names.length, 299);
  assert.ok(report.includes("1 of 300 objects are lost"), report.join("; "));
});
