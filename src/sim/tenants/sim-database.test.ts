import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { SimDatabase } from "./sim-database.ts";

const { signal } = new AbortController();
const PLACE = { schema: "s", user: "u" };

/** Two servers; `calls`: each call of the first, with its ms. */
function rig(fails?: string) {
  const clock = new VirtualClock(0);
  const calls: string[] = [];
  const database = new SimDatabase(clock, (call) => {
    calls.push(`${clock.now()} ${call}`);
    if (call === fails) throw new Fault("LostAnswer", "db", "lost");
  });
  const other = new SimDatabase(clock);
  const done = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false;
    const watched = work.finally(() => {
      isDone = true;
    });
    watched.catch(() => {});
    await clock.run(60_000, () => isDone);
    return watched;
  };
  return { clock, calls, database, other, done, store: database.connection("etcd"), to: other.connection("etcd") };
}

test("each call takes five milliseconds, one after the other, with a name of its own", async () => {
  const { calls, done, store, to, database, clock } = rig();
  assert.equal(store.driver, "etcd");
  await done(store.check(signal));
  await done(store.ensure(PLACE, signal));
  assert.deepEqual(await done(store.places(signal)), ["s"]);
  assert.equal(await done(store.count(PLACE, signal)), 0);
  assert.equal(await done(store.count({ schema: "none", user: "u" }, signal)), 0);
  await done(to.ensure(PLACE, signal));
  database.places.get("s")!.data.set("k", "1").set("l", "2");
  await done(store.copy(PLACE, to, () => {}, signal));
  await done(store.ensure({ schema: "r", user: "u" }, signal));
  assert.deepEqual(await done(store.places(signal)), ["r", "s"]);
  assert.deepEqual(await done(store.remove(PLACE, signal)), []);
  assert.deepEqual(
    calls.map((line) => line.split(" ").slice(1).join(" ")),
    [
      ...["check", "make user", "make place", "list places", "count", "count", "copy", "copy a key", "copy a key"],
      ...["make user", "make place", "list places", "remove place", "remove user"],
    ],
  );
  assert.deepEqual(
    calls.map((line) => Number(line.split(" ")[0])),
    [5, 10, 15, 20, 25, 30, 45, 50, 55, 60, 65, 70, 75, 80],
  );
  assert.equal(clock.pending, 0);
});

test("a call that is lost leaves what was done before it, and no more", async () => {
  const left = async (fails: string, what: (of: ReturnType<typeof rig>) => Promise<unknown>) => {
    const of = rig(fails);
    await of.done(of.to.ensure(PLACE, signal));
    of.database.users.add("u");
    of.database.places.set("s", { user: "u", data: new Map([["k", "1"]]) });
    await assert.rejects(of.done(what(of)), { code: "LostAnswer" }, fails);
    const { users, places } = of.database;
    return [users.size, places.size, of.other.places.get("s")!.data.size].join();
  };
  const remove = ({ store }: ReturnType<typeof rig>) => store.remove(PLACE, signal);
  assert.equal(await left("remove place", remove), "1,1,0");
  assert.equal(await left("remove user", remove), "1,0,0");
  const copy = ({ store, to }: ReturnType<typeof rig>) => store.copy(PLACE, to, () => {}, signal);
  assert.equal(await left("copy", copy), "1,1,0");
  assert.equal(await left("copy a key", copy), "1,1,0");
  const another = ({ store }: ReturnType<typeof rig>) => store.ensure({ schema: "n", user: "v" }, signal);
  assert.equal(await left("make user", another), "1,1,0");
  assert.equal(await left("make place", another), "2,1,0");
  assert.equal(await left("list places", ({ store }) => store.places(signal)), "1,1,0");
  assert.equal(await left("count", ({ store }) => store.count(PLACE, signal)), "1,1,0");
  assert.equal(await left("check", ({ store }) => store.check(signal)), "1,1,0");
});

test("a place of another is refused, one that is not there or not empty is not copied to, and a slow server is slow until it is mended", async () => {
  const { done, store, to, database, clock } = rig();
  await done(store.ensure(PLACE, signal));
  await assert.rejects(done(store.copy(PLACE, to, () => {}, signal)), { code: "NotFound" });
  await done(to.ensure({ schema: "t", user: "u" }, signal));
  await assert.rejects(done(store.copy({ schema: "t", user: "u" }, to, () => {}, signal)), { code: "NotFound" });
  database.callMs = 1_000;
  const from = clock.now();
  await done(store.check(signal));
  assert.equal(clock.now() - from, 1_000);
  database.isFull = true;
  database.isUp = false;
  database.mend();
  assert.deepEqual([database.callMs, database.isFull, database.isUp], [5, false, true]);
  const away = new AbortController();
  const asked = store.check(away.signal);
  away.abort(new Error("given up"));
  await assert.rejects(asked, /given up/);
  await store.close();
});
