import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { quietLog } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Core } from "../core/call.ts";
import { type World, world } from "../testing.ts";
import { Work } from "./work.ts";

const EVENTS = "/api/v1/namespaces/default/events";
const HOUR_MS = 3_600_000;
const event = (w: World, name: string) =>
  w.ask("POST", EVENTS, { metadata: { name }, involvedObject: { namespace: "default" } });
const names = async (w: World) =>
  ((await w.ask("GET", EVENTS)) as unknown as { items: { metadata: { name: string } }[] }).items.map(
    ({ metadata }) => metadata.name,
  );

test("an Event is kept for an hour after its last change, whatever others do", async () => {
  const w = await world();
  await w.clock.settle();
  const idle = w.clock.pending;
  await event(w, "a");
  await w.clock.run(HOUR_MS / 2);
  await event(w, "b");
  await event(w, "c");
  await w.ask("PATCH", `${EVENTS}/b`, { message: "again" }, { contentType: "application/merge-patch+json" });
  await w.ask("DELETE", `${EVENTS}/c`);
  await w.clock.run(HOUR_MS / 2 - 1);
  assert.deepEqual(await names(w), ["a", "b"]);
  await w.clock.run(1);
  assert.deepEqual(await names(w), ["b"]);
  await w.clock.run(HOUR_MS / 4);
  await w.ask("PATCH", `${EVENTS}/b`, { message: "once more" }, { contentType: "application/merge-patch+json" });
  await w.clock.run(HOUR_MS - 1);
  assert.deepEqual(await names(w), ["b"]);
  await w.clock.run(1);
  assert.deepEqual(await names(w), []);
  assert.equal(w.clock.pending, idle, "nothing is waited for when there are no Events");
  await w.close();
});

test("Events that were there before a start go an hour after it, and a server that is closed waits for none", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "events-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const storage = { file: join(folder, "db") };
  const first = await world({ storage });
  await event(first, "a");
  await first.close();
  assert.equal(first.clock.pending, 0);
  const second = await world({ storage });
  await second.clock.run(HOUR_MS - 1);
  assert.deepEqual(await names(second), ["a"]);
  await second.clock.run(1);
  assert.deepEqual(await names(second), []);
  await second.close();
});

/** Work whose steps are noted, on a clock of its own. */
function working(act: (key: string) => Promise<void>) {
  const clock = new VirtualClock();
  const warned: object[] = [];
  const log = { ...quietLog, warn: (fields: object) => void warned.push(fields) };
  return { clock, warned, work: new Work<string>({ clock, log } as unknown as Core, "sweep", act) };
}

test("keys are worked on one after the other, each once however often it is added", async () => {
  const done: string[] = [];
  let running = 0;
  const { work, clock } = working(async (key) => {
    assert.equal(++running, 1);
    await Promise.resolve();
    running--;
    done.push(key);
  });
  for (const key of ["a", "b", "a"]) work.add(key);
  await clock.settle();
  assert.deepEqual(done, ["a", "b"]);
  work.add("a");
  await clock.settle();
  assert.deepEqual(done, ["a", "b", "a"]);
  await work.close();
});

test("a step that fails is warned of and tried again after a second, and the others go on", async () => {
  const done: string[] = [];
  let fails = true;
  const { work, clock, warned } = working(async (key) => {
    if (key === "a" && fails) throw new Error("not yet");
    done.push(key);
  });
  work.add("a");
  work.add("b");
  await clock.settle();
  assert.deepEqual(done, ["b"]);
  const [{ work: name, key, error }] = warned as [{ work: string; key: string; error: Error }];
  assert.deepEqual([name, key, error.message], ["sweep", "a", "not yet"]);
  fails = false;
  await clock.run(999);
  assert.deepEqual(done, ["b"]);
  await clock.run(1);
  assert.deepEqual(done, ["b", "a"]);
  await work.close();
});

test("work that is closed ends the key at hand, takes no more, and waits for nothing", async () => {
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const { work, clock } = working(async (key) => {
    if (key === "bad") throw new Error("never");
    await first.promise;
    done.push(key);
  });
  work.add("bad");
  await clock.settle();
  assert.equal(clock.pending, 1);
  work.add("a");
  work.add("b");
  await clock.settle();
  const closed = work.close();
  first.resolve();
  await closed;
  work.add("c");
  await clock.run(5000);
  assert.deepEqual([done, clock.pending], [["a"], 0]);
});
