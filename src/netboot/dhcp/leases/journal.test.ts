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
import { isFault, type Log, quietLog } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { openLeases } from "./journal.ts";
import type { Lease } from "./lease.ts";
import { writeSealedLine } from "./lease-lines.ts";

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
  const first = openLeases(file);
  await Promise.all([first.put(lease(7, "1/aa")), first.put(lease(9, "1/bb")), first.put(lease(7, "1/cc"))]);
  await first.put({ ...lease(9, "1/bb"), state: "released" });
  first.close();

  const second = openLeases(file);
  t.after(() => second.close());
  assert.deepEqual(second.load(), [lease(7, "1/cc"), { ...lease(9, "1/bb"), state: "released" }]);
});

test("a second instance reads what the first one acknowledged, while that one runs", async (t) => {
  const file = fileFor(t);
  const first = openLeases(file);
  t.after(() => first.close());
  for (let i = 0; i < 3; i++) {
    await first.put(lease(i, "1/aa"));
    const second = openLeases(file);
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
  const store = openLeases(fileFor(t), { disk: slow.disk });
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
  const store = openLeases(file, { disk: slow.disk });
  const failed = assert.rejects(store.put(lease(1, "1/aa")), /it could not be written \(ENOSPC\)$/);
  await clock.run(10);
  slow.end(new Error("ENOSPC"));
  await failed;
  const put = store.put(lease(2, "1/bb"));
  await clock.run(10);
  slow.end();
  await put;
  assert.equal(
    slow.texts.at(-1),
    `?\n${writeSealedLine(lease(1, "1/aa"))}${writeSealedLine(lease(2, "1/bb"))}`.trimEnd(),
  );
  store.close();
});

test("what is queued at the end is written", (t) => {
  const file = fileFor(t);
  const first = openLeases(file);
  void first.put(lease(1, "1/aa"));
  first.close();
  const second = openLeases(file);
  t.after(() => second.close());
  assert.deepEqual(second.load(), [lease(1, "1/aa")]);
});

test("N10 a line that a loss of power has torn costs nothing but itself", async (t) => {
  const file = fileFor(t);
  const before = openLeases(file);
  await before.put(lease(1, "1/aa"));
  before.close();
  appendFileSync(file, "0.0.0.2 1/bb bound 18000");
  const after = openLeases(file);
  await after.put(lease(3, "1/cc"));
  after.close();
  const again = openLeases(file);
  t.after(() => again.close());
  assert.deepEqual(again.load(), [lease(1, "1/aa"), lease(3, "1/cc")]);
});

test("N10 a file whose first line was torn begins anew", async (t) => {
  const file = fileFor(t);
  writeFileSync(file, "slipway-l");
  const store = openLeases(file);
  await store.put(lease(1, "1/aa"));
  store.close();
  const again = openLeases(file);
  t.after(() => again.close());
  assert.equal(again.load().length, 1);
});

test("the file stays small, however often leases change, and loses none while it is written anew", async (t) => {
  const file = fileFor(t);
  const store = openLeases(file);
  for (let round = 0; round < 30; round++)
    await Promise.all(Array.from({ length: 1000 }, (_, i) => store.put(lease(i, `1/${(round + 16).toString(16)}`))));
  const expected = store.load();
  store.close();
  assert.ok(statSync(file).size < 1_000_000);
  assert.equal(expected.length, 1000);
  const again = openLeases(file);
  t.after(() => again.close());
  assert.deepEqual(again.load(), expected);
});

test("where no new file can be made, the old one goes on", async (t) => {
  const file = fileFor(t);
  mkdirSync(`${file}.new`);
  const store = openLeases(file);
  for (let round = 0; round < 30; round++)
    await Promise.all(Array.from({ length: 1000 }, (_, i) => store.put(lease(i, "1/aa"))));
  store.close();
  assert.ok(readFileSync(file, "utf8").split("\n").length > 30_000);
});

test("a file of a newer Slipway, or of something else, is refused", (t) => {
  const file = fileFor(t);
  writeFileSync(file, "slipway-leases 3\n");
  assert.throws(() => openLeases(file), /it begins with "slipway-leases 3.n", not with "slipway-leases 2/);
});

test("a file that can't be opened is reported by name, and a lease after the end is refused instead of written elsewhere", async (t) => {
  const file = fileFor(t);
  mkdirSync(file);
  assert.throws(
    () => openLeases(file),
    (error) => isFault(error, "MissingInput") && /EISDIR/.test(error.message) && error.on === file,
  );
  const store = openLeases(`${file}-2`);
  store.close();
  await assert.rejects(store.put(lease(1, "1/aa")), (error) => isFault(error, "Unavailable"));
});

/** A file of five leases, each `1/a0` to `1/a4` at 10.0.0.0 to 10.0.0.4, with the last one renewed. */
async function fileOfFive(t: TestContext): Promise<string> {
  const file = fileFor(t);
  const store = openLeases(file);
  for (let i = 0; i < 5; i++) await store.put(lease(0x0a000000 + i, `1/a${i}`));
  await store.put(lease(0x0a000004, "1/a4", 1_900_000_000_000));
  store.close();
  return file;
}

function warnings(): { log: Log; said: object[] } {
  const said: object[] = [];
  return { said, log: { ...quietLog, warn: (fields) => void said.push(fields) } };
}

test("every flipped bit of a line is found: the line is left out, reported, and its address is in doubt", async (t) => {
  const file = await fileOfFive(t);
  const whole = readFileSync(file);
  const from = whole.indexOf("10.0.0.1 ");
  const until = whole.indexOf("\n", from);
  for (let bit = 8 * from; bit < 8 * until; bit++) {
    const bytes = Buffer.from(whole);
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    writeFileSync(file, bytes);
    const { log, said } = warnings();
    const store = openLeases(file, { log });
    store.close();
    const known = store.load();
    assert.deepEqual(
      known.map(({ client }) => client),
      ["1/a0", "1/a2", "1/a3", "1/a4"],
      `bit ${bit}`,
    );
    // What looks like a torn end is none that was reported; the address is in doubt all the same.
    if (bytes[until - 1] !== 0x3f) assert.deepEqual((said[0] as { line: number }).line, 3, `bit ${bit}`);
    if (bit >= 8 * (from + 9)) assert.deepEqual([...store.doubtful!], [0x0a000001], `bit ${bit}`);
  }
});

test("a damaged line is reported once with its file, its number and the count; a later line of its address settles it", async (t) => {
  const file = await fileOfFive(t);
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("1/a2", "1/b2").replace("1/a4", "1/b4"));
  const { log, said } = warnings();
  const store = openLeases(file, { log });
  assert.deepEqual(said, [{ file, line: 4, lines: 2 }]);
  assert.deepEqual([...store.doubtful!], [0x0a000002]);
  assert.deepEqual(store.load().at(-1), lease(0x0a000004, "1/a4", 1_900_000_000_000));
  await store.put(lease(0x0a000002, "1/cc"));
  store.close();
  const again = openLeases(file);
  again.close();
  assert.deepEqual([...again.doubtful!], []);
});

test("a line that was torn is dropped without a word, at the end and after a restart", async (t) => {
  const file = await fileOfFive(t);
  appendFileSync(file, "10.0.0.9 1/bb bou");
  const { log, said } = warnings();
  for (let restart = 0; restart < 3; restart++) {
    const store = openLeases(file, { log });
    await store.put(lease(0x0a000000, "1/a0"));
    store.close();
    assert.equal(store.load().length, 5);
  }
  assert.deepEqual(said, []);
});

test("a file without checksums is read, goes on with them, and an older Slipway refuses it", async (t) => {
  const file = fileFor(t);
  writeFileSync(file, "slipway-leases 1\n10.0.0.1 1/aa bound 1800000000000\n10.0.0.2 1/bb released 1800000000000\n");
  const { log, said } = warnings();
  const store = openLeases(file, { log });
  await store.put(lease(0x0a000003, "1/cc"));
  store.close();
  assert.match(
    readFileSync(file, "utf8"),
    /^slipway-leases 2\n10.0.0.1 1\/aa bound 1800000000000\n.*\n10\.0\.0\.3 1\/cc bound 1800000000000 #[0-9a-f]{8}\n$/,
  );
  const again = openLeases(file, { log });
  again.close();
  assert.deepEqual([again.load().length, said], [3, []]);
});

test("a doubt outlives the file that is written anew", async (t) => {
  const file = await fileOfFive(t);
  writeFileSync(file, readFileSync(file, "utf8").replace("1/a2", "1/b2"));
  const store = openLeases(file);
  for (let round = 0; round < 30; round++)
    await Promise.all(Array.from({ length: 1000 }, (_, i) => store.put(lease(0x0b000000 + i, "1/aa"))));
  store.close();
  assert.ok(statSync(file).size < 2_000_000);
  const again = openLeases(file);
  again.close();
  assert.deepEqual([...again.doubtful!], [0x0a000002]);
});

test("a full disk is named once, no lease is acknowledged, and it goes on when there is room", async (t) => {
  const file = fileFor(t);
  const errors: object[] = [];
  const news: string[] = [];
  const log: Log = {
    ...quietLog,
    error: (fields) => void errors.push(fields),
    info: (_, message) => void news.push(message),
  };
  let room = 40;
  const disk = {
    append(fd: number, text: string) {
      const fits = text.slice(0, room);
      writeSync(fd, fits);
      room -= fits.length;
      if (fits.length < text.length) throw Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });
    },
    sync: async () => {},
  };
  const store = openLeases(file, { log, disk });
  for (let i = 1; i < 5; i++)
    await assert.rejects(
      store.put(lease(i, "1/aa")),
      (error) => isFault(error, "Unavailable") && /the disk of \/.*leases-\w+ is full/.test(error.message),
    );
  assert.equal(errors.length, 1);
  assert.match((errors[0] as { error: string }).error, /is full .*free some space there; it goes on by itself/);
  room = 10_000;
  await store.put(lease(5, "1/aa"));
  assert.deepEqual(news, ["leases are written again"]);
  store.close();
  const { log: later, said } = warnings();
  const again = openLeases(file, { log: later });
  again.close();
  assert.deepEqual([again.load().length, said], [5, []]);
});
