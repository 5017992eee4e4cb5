import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { type Log, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import { hostName } from "./host.ts";
import { openHostStore } from "./host-store.ts";
import { Hosts } from "./hosts.ts";
import { inventoryOf } from "./testing.ts";

const A = "52:54:00:00:00:0a";
const folder = mkdtempSync(join(tmpdir(), "slipway-host-file-"));
after(() => rmSync(folder, { recursive: true }));

/** As SQLite has them (https://www.sqlite.org/fileformat.html). */
const PAGE_BYTES = 4096;
const TABLE_LEAF = 0x0d;

let files = 0;
const newFile = (): string => join(folder, `${files++}.db`);
const macAt = (i: number): string =>
  `52:54:00:00:${(i >> 8).toString(16).padStart(2, "0")}:${(i & 255).toString(16).padStart(2, "0")}`;

/** Hosts of a file, and what opening it logged. */
function opened(file: string, options: Partial<ConstructorParameters<typeof Hosts>[0]> = {}) {
  const said: string[] = [];
  const log: Log = { ...quietLog, error: (fields, message) => said.push(`${message} ${JSON.stringify(fields)}`) };
  const store = openHostStore(file, log);
  return { hosts: new Hosts({ store, clock: new VirtualClock(), random: seededRandom(1), ...options }), said };
}

function filled(file: string, count: number): void {
  const { hosts } = opened(file);
  for (let i = 0; i < count; i++) hosts.register(inventoryOf(macAt(i)), macAt(i));
  hosts.close();
}

function changed(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

test("a file of format 1 is brought to this one in its place: every host, order and token is there, inventories are packed", () => {
  const file = newFile();
  const inventory = inventoryOf(A);
  const host = {
    name: "host-52-54-00-00-00-0a",
    mac: A,
    macs: [A],
    firstSeen: 1,
    lastSeen: 2,
    boot: "disk",
    inventoryAt: 2,
  };
  changed(
    file,
    `PRAGMA user_version = 1; CREATE TABLE hosts (name TEXT PRIMARY KEY, state TEXT NOT NULL, inventory TEXT);
    INSERT INTO hosts VALUES ('${host.name}', '${JSON.stringify({ host, bootChosen: true, future: "kept" })}', '${JSON.stringify(inventory)}')`,
  );

  const { hosts, said } = opened(file);
  assert.deepEqual(said, []);
  assert.equal(hosts.bootOf(A), "disk");
  assert.deepEqual(hosts.get(A)?.inventory, inventory);
  assert.equal(hosts.get(A)?.product, "Standard PC");
  hosts.setBoot(A, "wait");
  hosts.close();
  const db = new DatabaseSync(file);
  const row = db.prepare("SELECT typeof(inventory) AS type, length(inventory) AS bytes, state FROM hosts").get()!;
  assert.equal(row.type, "blob");
  assert.ok(Number(row.bytes) < JSON.stringify(inventory).length);
  assert.equal(JSON.parse(String(row.state)).future, "kept");
  db.close();
});

test("a file of a newer Slipway is set aside under a name that says so, and netboot begins without hosts", () => {
  const file = newFile();
  filled(file, 3);
  changed(file, "PRAGMA user_version = 99");

  const { hosts, said } = opened(file);
  assert.equal(hosts.list().length, 0);
  assert.match(said.join(), /a newer Slipway wrote the hosts/);
  hosts.register(inventoryOf(A), A);
  hosts.close();
  assert.equal(statSync(`${file}.format-99`).mode & 0o777, 0o600);
  assert.equal(opened(file).hosts.list().length, 1);
});

test("rows that are no hosts are set aside, at most a hundred, and the others are there", () => {
  const file = newFile();
  filled(file, 5);
  const db = new DatabaseSync(file);
  const insert = db.prepare("INSERT INTO hosts VALUES (?, ?, ?)");
  const whole = JSON.parse(String(db.prepare("SELECT state FROM hosts").get()!.state));
  for (const [at, state] of [
    "",
    "null",
    "[]",
    "{",
    "{}",
    "\u0000",
    "x".repeat(600_000),
    JSON.stringify(whole),
    JSON.stringify({ ...whole, host: { ...whole.host, name: "row8", macs: ["nonsense"] } }),
    JSON.stringify({ ...whole, host: { ...whole.host, name: "row9", boot: 7 } }),
  ].entries())
    insert.run(`row${at}`, state, null);
  insert.run(null, "{}", null);
  insert.run(Uint8Array.of(1, 2), "{}", Uint8Array.of(3));
  for (let i = 0; i < 300; i++) insert.run(`garbage${i}`, "garbage", "garbage");
  db.exec(
    "UPDATE hosts SET inventory = zeroblob(70000) WHERE name = 'host-52-54-00-00-00-01'; UPDATE hosts SET inventory = x'00ff' WHERE name = 'host-52-54-00-00-00-02'",
  );
  db.close();

  const { hosts, said } = opened(file);
  assert.equal(hosts.list().length, 5);
  assert.match(said.join(), /rows that are no hosts were set aside.*"rows":312/);
  assert.equal(hosts.get(macAt(0))?.inventory?.cpu.model, "EPYC");
  assert.equal(hosts.get(macAt(1))?.inventory, undefined);
  assert.equal(hosts.get(macAt(2))?.inventory, undefined);
  hosts.close();
  assert.deepEqual(opened(file).said, []);
  const again = new DatabaseSync(file);
  assert.equal(again.prepare("SELECT count(*) AS count FROM set_aside").get()!.count, 100);
  again.close();
});

test("what is no database is set aside, whatever it is, and netboot begins without hosts", () => {
  for (const content of ["", "garbage", "SQLite format 3\u0000garbage", "x".repeat(100_000)]) {
    const file = newFile();
    writeFileSync(file, content);
    const { hosts } = opened(file);
    hosts.register(inventoryOf(A), A);
    hosts.close();
    assert.equal(existsSync(`${file}.damaged`), content !== "", JSON.stringify(content.slice(0, 20)));
    assert.equal(opened(file).hosts.list().length, 1);
  }
});

test("a table of another shape is set aside with its file", () => {
  const file = newFile();
  changed(file, "CREATE TABLE hosts (something); INSERT INTO hosts VALUES (1)");
  const { hosts, said } = opened(file);
  assert.equal(hosts.list().length, 0);
  assert.match(said.join(), /damaged/);
});

test("a torn last write loses that write and nothing before it", () => {
  const file = newFile();
  const { hosts } = opened(file);
  for (let i = 0; i < 10; i++) hosts.register(inventoryOf(macAt(i)), macAt(i));
  const whole = statSync(`${file}-wal`).size;
  hosts.register(inventoryOf(macAt(10)), macAt(10));
  const last = statSync(`${file}-wal`).size;
  for (let torn = whole + 1; torn < last; torn += 1_500) {
    const copy = newFile();
    copyFileSync(file, copy);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    truncateSync(`${copy}-wal`, torn);
    const { hosts: found, said } = opened(copy);
    assert.deepEqual(said, []);
    assert.equal(found.list().length, 10, `torn at ${torn} of ${last}`);
    found.close();
  }
  hosts.close();
});

test("an index that says something else than its table is damage: nothing fails later because of it", () => {
  const file = newFile();
  filled(file, 60);
  const db = new DatabaseSync(file);
  const { rootpage } = db.prepare("SELECT rootpage FROM sqlite_master WHERE type = 'index'").get() as {
    rootpage: number;
  };
  db.close();
  const bytes = readFileSync(file);
  const at = bytes.indexOf(hostName(macAt(7)), (rootpage - 1) * PAGE_BYTES);
  assert.ok(at > 0 && at < rootpage * PAGE_BYTES, "the index is one page, and has the name");
  bytes.write("z", at);
  writeFileSync(file, bytes);

  const { hosts, said } = opened(file);
  assert.match(said.join("\n"), /the file of hosts is damaged.*"saved":60/);
  hosts.register(inventoryOf(macAt(7)), macAt(7));
  assert.equal(hosts.list().length, 60);
  hosts.close();
});

test("whatever bytes of the file are changed, it opens, and takes what comes", () => {
  const sound = newFile();
  filled(sound, 60);
  const bytes = readFileSync(sound);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat({ max: bytes.length - 1 }), fc.uint8Array({ minLength: 1, maxLength: 64 })), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.option(fc.nat({ max: bytes.length })),
      (patches, cut) => {
        const file = newFile();
        const copy = Buffer.from(bytes);
        for (const [at, patch] of patches) copy.set(patch.subarray(0, copy.length - at), at);
        writeFileSync(file, copy.subarray(0, cut ?? copy.length));
        const { hosts } = opened(file);
        for (const host of hosts.list()) void host.inventory;
        hosts.register(inventoryOf("52:54:01:00:00:01"), "52:54:01:00:00:01");
        hosts.close();
        const again = opened(file);
        assert.ok(again.hosts.get("52:54:01:00:00:01")?.inventory !== undefined);
        again.hosts.close();
      },
    ),
    { numRuns: 60 },
  );
});

test("a file with more than there is room for is read oldest first, and those that are kept are never lost", () => {
  const file = newFile();
  filled(file, 40);
  const before = opened(file);
  before.hosts.setBoot(macAt(3), "wait");
  before.hosts.close();

  const { hosts } = opened(file, { bounds: { hosts: 10 } });
  assert.equal(hosts.list().length, 10);
  assert.equal(hosts.bootOf(macAt(3)), "wait");
  hosts.close();
  assert.equal(opened(file).hosts.list().length, 10);
});

test("hosts of a file that may not leave and have no room are counted, and are there when there is room again", () => {
  const file = newFile();
  filled(file, 5);
  const { hosts: before } = opened(file);
  for (let i = 0; i < 3; i++) before.setBoot(macAt(i), "wait");
  before.close();

  const { hosts } = opened(file, { bounds: { hosts: 2 } });
  assert.deepEqual([hosts.unread, hosts.size.hosts], [1, 2]);
  hosts.close();
  const { hosts: again } = opened(file);
  assert.deepEqual([again.unread, again.size.hosts], [0, 3]);
  again.close();
});

test("of a file that is damaged in its middle, what lies before and behind the damage is saved", () => {
  const file = newFile();
  filled(file, 60);
  const bytes = readFileSync(file);
  const isMiddle = (page: number): boolean =>
    bytes[page] === TABLE_LEAF && bytes.subarray(page, page + PAGE_BYTES).includes(`"${hostName(macAt(30))}"`);
  let page = 0;
  while (page < bytes.length && !isMiddle(page)) page += PAGE_BYTES;
  assert.ok(page < bytes.length);
  bytes.fill(0xff, page, page + PAGE_BYTES);
  writeFileSync(file, bytes);

  const { hosts, said } = opened(file);
  assert.match(said.join(), /the file of hosts is damaged/);
  const names = hosts.list().map(({ name }) => name);
  assert.ok(names.includes(hostName(macAt(0))) && names.includes(hostName(macAt(59))));
  assert.ok(names.length < 60);
  hosts.close();
});
