import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import fc from "fast-check";
import type { Body } from "../served.ts";
import type { StoreEvent } from "./collection.ts";
import { type Journal, openJournal } from "./journal.ts";
import { Store } from "./store.ts";

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
  const store = new Store({ journal: openJournal(join(folder(t), "db")) });
  const seen: StoreEvent[] = [];
  store.listen("c", (event) => seen.push(event));
  store.put("c", "a", body(1), undefined);
  assert.equal(seen.length, 0);
  await store.durable();
  assert.equal(seen.length, 1);
  assert.equal(store.durable(), undefined);
  store.close();
});

test("a store that can't write acknowledges nothing from then on", async () => {
  const journal: Journal = {
    load: () => ({ version: 0 }),
    commit: () => {
      throw new Error("disk full");
    },
    close: () => {},
  };
  const store = new Store({ journal });
  store.put("c", "a", body(1), undefined);
  await assert.rejects(store.durable()!, /could not be made durable/);
  assert.throws(() => store.put("c", "b", body(1), undefined), /could not be made durable/);
  assert.ok(store.broken);
});

test("a restart finds every object and goes on counting", (t) => {
  const file = join(folder(t), "db");
  const first = new Store({ journal: openJournal(file) });
  first.put("c", "a", body(1), undefined);
  const b = first.put("c", "b", body(2), undefined)!;
  first.remove("c", "b", b.metadata.resourceVersion);
  first.close();
  const second = new Store({ journal: openJournal(file) });
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
    import { openJournal } from ${JSON.stringify(import.meta.resolve("./journal.ts"))};
    import { Store } from ${JSON.stringify(import.meta.resolve("./store.ts"))};
    const store = new Store({ journal: openJournal(${JSON.stringify(file)}) });
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
  const store = new Store({ journal: openJournal(file) });
  for (let i = 0; i < acknowledged; i++) assert.ok(store.get("c", String(i)), `write ${i} of ${acknowledged} is there`);
  store.close();
});
