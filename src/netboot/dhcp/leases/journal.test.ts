import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../../base/clock.ts";
import { isFault } from "../../../base/fault.ts";
import { VirtualClock } from "../../../base/virtual-clock.ts";
import { openLeases } from "./journal.ts";
import type { Lease } from "./lease.ts";

function fileFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "leases-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, "leases");
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
  await Promise.all([first.put(lease(7, "1/aa")), first.put(lease(9, "1/bb")), first.put(lease(7, "1/cc"))]);
  await first.put({ ...lease(9, "1/bb"), state: "released" });
  first.close();

  const second = openLeases(file, systemClock);
  t.after(() => second.close());
  assert.deepEqual(second.load(), [lease(7, "1/cc"), { ...lease(9, "1/bb"), state: "released" }]);
});

test("a second instance reads what the first one acknowledged, while that one runs", async (t) => {
  const file = fileFor(t);
  const first = openLeases(file, systemClock);
  t.after(() => first.close());
  for (let i = 0; i < 3; i++) {
    await first.put(lease(i, "1/aa"));
    const second = openLeases(file, systemClock);
    assert.equal(second.load().length, i + 1);
    second.close();
  }
});

/** A disk whose writes end when the test says so. */
function slowDisk() {
  const waiting: PromiseWithResolvers<void>[] = [];
  const texts: string[] = [];
  return {
    texts,
    end: (error?: Error) => {
      const [first] = waiting.splice(0, 1);
      if (error === undefined) first?.resolve();
      else first?.reject(error);
    },
    disk: {
      append(fd: number, text: string) {
        texts.push(text.trim());
        writeSync(fd, text);
      },
      sync: () => {
        waiting.push(Promise.withResolvers<void>());
        return waiting.at(-1)!.promise;
      },
    },
  };
}

test("leases put together, or while the disk is busy, are one write, and none is acknowledged before the disk has it", async (t) => {
  const clock = new VirtualClock();
  const slow = slowDisk();
  const store = openLeases(fileFor(t), clock, slow.disk);
  const done: string[] = [];
  const put = (address: number): void => void store.put(lease(address, "1/aa")).then(() => done.push(`${address}`));
  put(1);
  put(2);
  await clock.run(10);
  put(3);
  await clock.run(10);
  put(4);
  await clock.run(10);
  assert.deepEqual(done, []);
  slow.end();
  await clock.run(10);
  assert.deepEqual(done, ["1", "2"]);
  slow.end();
  await clock.run(10);
  assert.deepEqual(done, ["1", "2", "3", "4"]);
  assert.deepEqual(
    slow.texts.map((text) => text.split("\n").length),
    [2, 2],
  );
  store.close();
});

test("a write that fails says so, and its leases go with the next one", async (t) => {
  const clock = new VirtualClock();
  const slow = slowDisk();
  const file = fileFor(t);
  const store = openLeases(file, clock, slow.disk);
  const failed = assert.rejects(store.put(lease(1, "1/aa")), /leases could not be written: ENOSPC$/);
  await clock.run(10);
  slow.end(new Error("ENOSPC"));
  await failed;
  const put = store.put(lease(2, "1/bb"));
  await clock.run(10);
  slow.end();
  await put;
  assert.equal(slow.texts.at(-1), "?\n0.0.0.1 1/aa bound 1800000000000\n0.0.0.2 1/bb bound 1800000000000");
  store.close();
});

test("what is queued at the end is written", (t) => {
  const file = fileFor(t);
  const first = openLeases(file, systemClock);
  void first.put(lease(1, "1/aa"));
  first.close();
  const second = openLeases(file, systemClock);
  t.after(() => second.close());
  assert.deepEqual(second.load(), [lease(1, "1/aa")]);
});

test("N10 a line that a loss of power has torn costs nothing but itself", async (t) => {
  const file = fileFor(t);
  const before = openLeases(file, systemClock);
  await before.put(lease(1, "1/aa"));
  before.close();
  appendFileSync(file, "0.0.0.2 1/bb bound 18000");
  const after = openLeases(file, systemClock);
  await after.put(lease(3, "1/cc"));
  after.close();
  const again = openLeases(file, systemClock);
  t.after(() => again.close());
  assert.deepEqual(again.load(), [lease(1, "1/aa"), lease(3, "1/cc")]);
});

test("N10 a file whose first line was torn begins anew", async (t) => {
  const file = fileFor(t);
  writeFileSync(file, "slipway-l");
  const store = openLeases(file, systemClock);
  await store.put(lease(1, "1/aa"));
  store.close();
  const again = openLeases(file, systemClock);
  t.after(() => again.close());
  assert.equal(again.load().length, 1);
});

test("the file stays small, however often leases change, and loses none while it is written anew", async (t) => {
  const file = fileFor(t);
  const store = openLeases(file, systemClock);
  for (let round = 0; round < 30; round++)
    await Promise.all(Array.from({ length: 1000 }, (_, i) => store.put(lease(i, `1/${(round + 16).toString(16)}`))));
  const expected = store.load();
  store.close();
  assert.ok(statSync(file).size < 1_000_000);
  assert.equal(expected.length, 1000);
  const again = openLeases(file, systemClock);
  t.after(() => again.close());
  assert.deepEqual(again.load(), expected);
});

test("where no new file can be made, the old one goes on", async (t) => {
  const file = fileFor(t);
  mkdirSync(`${file}.new`);
  const store = openLeases(file, systemClock);
  for (let round = 0; round < 30; round++)
    await Promise.all(Array.from({ length: 1000 }, (_, i) => store.put(lease(i, "1/aa"))));
  store.close();
  assert.ok(readFileSync(file, "utf8").split("\n").length > 30_000);
});

test("a file of a newer Slipway, or of something else, is refused", (t) => {
  const file = fileFor(t);
  writeFileSync(file, "slipway-leases 2\n");
  assert.throws(() => openLeases(file, systemClock), /it begins with "slipway-leases 2.n", not with "slipway-leases 1/);
});

test("a file that can't be opened is told by name, and a lease after the end is refused instead of written elsewhere", async (t) => {
  const file = fileFor(t);
  mkdirSync(file);
  assert.throws(
    () => openLeases(file, systemClock),
    (error) => isFault(error, "MissingInput") && /opened: EISDIR/.test(error.message) && error.on === file,
  );
  const store = openLeases(`${file}-2`, systemClock);
  store.close();
  await assert.rejects(store.put(lease(1, "1/aa")), (error) => isFault(error, "Unavailable"));
});
