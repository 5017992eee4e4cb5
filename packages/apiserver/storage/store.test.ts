import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { cryptoRandom, isFault, quietLog, systemClock } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import type { Body } from "../model/served.ts";
import type { StoreEvent } from "./collection.ts";
import type { Journal } from "./journal.ts";
import { openJournal } from "./open-journal.ts";
import { Store } from "./store.ts";

const open = (file: string): Store => {
  const journal = openJournal(file, { clock: systemClock, random: cryptoRandom });
  return new Store({ durability: { journal, clock: systemClock, log: quietLog } });
};
const body = (value: number): Body => ({ apiVersion: "v1", kind: "X", metadata: {}, value }) as unknown as Body;
const folder = (t: { after(fn: () => void): void }): string => {
  const path = mkdtempSync(join(tmpdir(), "slipway-store-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
};

test("a write is refused when another came between", () => {
  const store = new Store();
  const a = store.put("c", "a", body(1), undefined)!;
  const version = a.metadata.resourceVersion;
  assert.equal(store.put("c", "a", body(2), undefined), undefined);
  assert.ok(store.put("c", "a", body(2), version));
  assert.equal(store.put("c", "a", body(3), version), undefined);
  assert.equal(store.remove("c", "a", version), undefined);
});

test("changes are forgotten after 75 s, whether others follow or not, but for the latest hundred of each collection", async () => {
  const clock = new VirtualClock();
  const store = new Store({ clock });
  const write = (collection: string, count: number): void => {
    for (let i = 0; i < count; i++) {
      const held = store.get(collection, "a")?.metadata.resourceVersion;
      store.put(collection, "a", body(i), held);
    }
  };
  const remembered = (collection: string, since: number): number | undefined =>
    store.collection(collection).since(since)?.length;
  const first = store.version;
  write("burst", 300);
  await clock.run(4_000);
  write("few", 50);
  const burst = store.version;
  await clock.run(4_000);
  write("later", 300);
  await clock.run(70_000);
  assert.deepEqual([remembered("burst", first), remembered("few", first)], [300, 50], "they are fresh");
  await clock.run(2_000);
  assert.equal(remembered("burst", first), undefined);
  assert.equal(remembered("burst", burst - 150), 100);
  assert.equal(remembered("few", first), 50);
  assert.equal(remembered("later", burst), 300);
  await clock.run(8_000);
  assert.equal(remembered("later", burst), undefined);
  write("later", 300);
  await clock.run(80_000);
  assert.equal(remembered("later", store.version - 101), undefined, "what comes after a rest, too");
});

test("a closed store leaves no timer", () => {
  const clock = new VirtualClock();
  const store = new Store({ clock });
  store.put("c", "a", body(1), undefined);
  assert.equal(clock.pending, 1);
  store.close();
  assert.equal(clock.pending, 0);
});

test("the past within the history can be read at any version", () => {
  const step = fc.record({ key: fc.constantFrom("a", "b", "c", "n/d"), drop: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const store = new Store();
      const states = new Map<number, string>();
      const note = (): void =>
        void states.set(
          store.version,
          JSON.stringify([...store.collection("c").range("", "")].map(([k, o]) => [k, o])),
        );
      note();
      for (const [i, { key, drop }] of steps.entries()) {
        const version = store.get("c", key)?.metadata.resourceVersion;
        if (!drop) store.put("c", key, body(i), version);
        else if (version !== undefined) store.remove("c", key, version);
        note();
      }
      for (const [version, state] of states)
        assert.equal(JSON.stringify([...store.collection("c").rangeAt(version, "", "")!]), state);
    }),
  );
});

test("watchers see a change only when it is on the disk", async (t) => {
  const store = open(join(folder(t), "db"));
  const seen: StoreEvent[] = [];
  store.listen("c", (event) => seen.push(event));
  store.put("c", "a", body(1), undefined);
  assert.equal(seen.length, 0);
  await store.durable();
  assert.equal(seen.length, 1);
  assert.equal(store.durable(), undefined);
  store.close();
});

/** A journal on a disk that can be filled, and what it holds. */
function fillable() {
  const disk = { error: undefined as Error | undefined, rows: new Map<string, Body | undefined>(), tries: 0 };
  const journal: Journal = {
    load: () => ({ version: 0 }),
    commit(entries) {
      disk.tries++;
      if (disk.error !== undefined) throw disk.error;
      for (const { key, object } of entries) disk.rows.set(key, object);
    },
    close: () => {},
  };
  const clock = new VirtualClock();
  const said: string[] = [];
  const note = (_: object, text: string): void => void said.push(text);
  const log = { ...quietLog, error: note, warn: note };
  return { disk, clock, said, store: new Store({ durability: { journal, clock, log } }) };
}

const FULL = Object.assign(new Error("database or disk is full"), { errcode: 13 });
const FAILS = Object.assign(new Error("disk I/O error"), { errcode: 10 });

for (const [name, error, words] of [
  ["full", FULL, /the disk of .* is full/],
  ["failing", FAILS, /the disk of .* fails/],
] as const)
  test(`on a ${name} disk a write is refused and undone, everything else goes on, and so do writes when it takes them again`, async () => {
    const { disk, clock, said, store } = fillable();
    const seen: StoreEvent[] = [];
    store.listen("c", (event) => seen.push(event));
    const kept = store.put("c", "a", body(1), undefined)!.metadata.resourceVersion;
    await store.durable();

    disk.error = error;
    store.put("c", "a", body(2), kept);
    store.put("c", "b", body(3), undefined);
    await assert.rejects(store.durable()!, (fault) => isFault(fault, "Internal") && words.test(fault.message));
    assert.match(store.broken!.message, words);
    assert.deepEqual(
      [...store.collection("c").range("", "")].map(([key, object]) => [key, object.metadata.resourceVersion]),
      [["a", kept]],
    );
    assert.throws(() => store.put("c", "b", body(4), undefined), words);
    assert.throws(() => store.remove("c", "a", kept), words);
    assert.equal(seen.length, 1);
    await clock.run(10_000);
    assert.ok(store.broken);

    disk.error = undefined;
    await clock.run(2000);
    assert.equal(store.broken, undefined);
    const after = store.put("c", "a", body(5), kept)!;
    assert.ok(Number(after.metadata.resourceVersion) > Number(kept) + 2, "no version is given twice");
    await store.durable();
    assert.equal(seen.length, 2);
    assert.deepEqual([...disk.rows.keys()], ["a"]);
    assert.deepEqual(said, [
      "objects can be read only: they can't be written to the disk",
      "the disk takes writes again",
    ]);
    store.close();
    assert.equal(clock.pending, 0);
  });

test("nothing that could not be kept is seen in the past", () => {
  const steps = fc.array(fc.record({ key: fc.constantFrom("a", "b", "c"), drop: fc.boolean(), fails: fc.boolean() }), {
    maxLength: 30,
  });
  return fc.assert(
    fc.asyncProperty(steps, async (asked) => {
      const { disk, clock, store } = fillable();
      const text = (at: number): string => JSON.stringify([...store.collection("c").rangeAt(at, "", "")!]);
      const states = new Map<number, string>([[store.version, text(store.version)]]);
      for (const [i, { key, drop, fails }] of asked.entries()) {
        disk.error = fails ? FULL : undefined;
        const version = store.get("c", key)?.metadata.resourceVersion;
        if (!drop) store.put("c", key, body(i), version);
        else if (version !== undefined) store.remove("c", key, version);
        await store.durable()?.catch(() => {});
        disk.error = undefined;
        await clock.run(1000);
        states.set(store.version, text(store.version));
      }
      for (const [version, state] of states) assert.equal(text(version), state);
      store.close();
    }),
    { numRuns: 50 },
  );
});

test("a restart finds every object and goes on counting", (t) => {
  const file = join(folder(t), "db");
  const first = open(file);
  first.put("c", "a", body(1), undefined);
  const b = first.put("c", "b", body(2), undefined)!;
  first.remove("c", "b", b.metadata.resourceVersion);
  first.close();
  const second = open(file);
  assert.deepEqual(
    [...second.collection("c").range("", "")].map(([key]) => key),
    ["a"],
  );
  assert.equal(second.version, 4);
  assert.equal(second.collection("c").since(3), undefined, "what came before the restart is forgotten, and said to be");
  second.close();
});

test("kill -9 under load loses no acknowledged write", async (t) => {
  const file = join(folder(t), "db");
  const script = `
    import { openJournal } from ${JSON.stringify(import.meta.resolve("./open-journal.ts"))};
    import { Store } from ${JSON.stringify(import.meta.resolve("./store.ts"))};
    import { systemClock as clock, cryptoRandom as random } from ${JSON.stringify(import.meta.resolve("@slipway/base"))};
    const journal = openJournal(${JSON.stringify(file)}, { clock, random });
    const store = new Store({ durability: { journal, clock, log: console } });
    for (let n = 0; ; n += 20) {
      for (let i = n; i < n + 20; i++) store.put("c", String(i), { metadata: {}, i }, undefined);
      await store.durable();
      process.stdout.write((n + 20) + "\\n");
    }`;
  const child: ChildProcess = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let acknowledged = 0;
  for await (const line of createInterface({ input: child.stdout! })) {
    acknowledged = Number(line);
    if (acknowledged >= 1000) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  assert.ok(acknowledged >= 1000);
  const store = open(file);
  for (let i = 0; i < acknowledged; i++) assert.ok(store.get("c", String(i)), `write ${i} of ${acknowledged} is there`);
  store.close();
});

test("what is read once all is settled is on the disk, written or undone", async (t) => {
  const store = open(join(folder(t), "kubernetes.db"));
  await store.settled();
  store.put("c", "a", body(1), undefined);
  assert.equal(store.version, 1);
  await store.settled();
  assert.equal(store.durable(), undefined);
  assert.equal(store.version, 2);
  store.close();
});
