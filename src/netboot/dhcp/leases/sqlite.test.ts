import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../../base/clock.ts";
import type { Lease } from "./lease.ts";
import { openLeases } from "./sqlite.ts";

function fileFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "leases-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, "leases.db");
}

const lease = (address: number, client: string, expiresAt = 1_800_000_000_000): Lease => ({
  address,
  client,
  state: "bound",
  expiresAt,
});

test("N10 what was put is there after a restart, the newest word on each address", async (t) => {
  const file = fileFor(t);
  const first = openLeases(file, systemClock);
  await Promise.all([first.put(lease(7, "a")), first.put(lease(9, "b")), first.put(lease(7, "c"))]);
  await first.put({ ...lease(9, "b"), state: "released" });
  first.close();

  const second = openLeases(file, systemClock);
  t.after(() => second.close());
  assert.deepEqual(second.load(), [lease(7, "c"), { ...lease(9, "b"), state: "released" }]);
});

test("a second instance reads what the first one acknowledged, while that one runs", async (t) => {
  const file = fileFor(t);
  const first = openLeases(file, systemClock);
  const second = openLeases(file, systemClock);
  t.after(() => [first, second].map((store) => store.close()));
  for (let i = 0; i < 3; i++) {
    await first.put(lease(i, "a"));
    assert.equal(second.load().length, i + 1);
  }
});

test("leases put together are one commit", async (t) => {
  const file = fileFor(t);
  const store = openLeases(file, systemClock);
  const watcher = new DatabaseSync(file);
  t.after(() => [watcher, store].map((db) => db.close()));
  const changes = (): unknown => watcher.prepare("PRAGMA data_version").get();
  const before = changes();
  const puts = Array.from({ length: 100 }, (_, i) => store.put(lease(i, `c${i}`)));
  assert.equal(new Set(puts).size, 1);
  assert.deepEqual(changes(), before);
  await puts[0];
  assert.equal(store.load().length, 100);
});

test("a commit that fails says so, and its leases go with the next one", async (t) => {
  const file = fileFor(t);
  const store = openLeases(file, systemClock);
  const other = new DatabaseSync(file);
  t.after(() => [other, store].map((db) => db.close()));
  other.exec("CREATE TRIGGER full BEFORE INSERT ON leases BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  await assert.rejects(store.put(lease(1, "a")), /leases could not be written/);
  other.exec("DROP TRIGGER full");
  await store.put(lease(2, "b"));
  assert.deepEqual(store.load(), [lease(1, "a"), lease(2, "b")]);
});

test("what is queued at the end is written", (t) => {
  const file = fileFor(t);
  const first = openLeases(file, systemClock);
  void first.put(lease(1, "a"));
  first.close();
  const second = openLeases(file, systemClock);
  t.after(() => second.close());
  assert.equal(second.load().length, 1);
});

test("a file of a newer Slipway is refused", (t) => {
  const file = fileFor(t);
  const db = new DatabaseSync(file);
  db.exec("PRAGMA user_version = 2");
  db.close();
  assert.throws(() => openLeases(file, systemClock), /its format is 2, this Slipway reads up to 1/);
});
