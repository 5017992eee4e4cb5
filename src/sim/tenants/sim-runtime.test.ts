import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Plane } from "../../tenants/plane.ts";
import { SimDatabase } from "./sim-database.ts";
import { SimRuntime } from "./sim-runtime.ts";

const { signal } = new AbortController();

function rig() {
  const clock = new VirtualClock();
  const databases = new Map([
    ["db", new SimDatabase(clock)],
    ["other", new SimDatabase(clock)],
  ]);
  const written = new Set<string>();
  const runtime = new SimRuntime({
    clock,
    random: seededRandom(1),
    database: (endpoint) => databases.get(endpoint),
    ...{ written, apis: new Map() },
  });
  const plane = {
    id: "a",
    version: "v1.34.2",
    replicas: 1,
    store: { endpoints: ["db"], prefix: "/s" },
  } as unknown as Plane;
  const place = (name = "db", schema = "s") => databases.get(name)!.places.set(schema, { user: "u", data: new Map() });
  const told: string[] = [];
  runtime.onChange((id) => told.push(id));
  return { clock, databases, written, runtime, plane, place, told };
}

test("a simulated plane answers three seconds after it can reach its place, and says so", async () => {
  const { clock, runtime, plane, place, told } = rig();
  const starting = {
    readyReplicas: 0,
    components: [{ component: "kube-apiserver", ready: false, message: "it starts" }],
  };
  assert.deepEqual(await runtime.ensure(plane), starting);
  await clock.run(3_000);
  assert.deepEqual([runtime.ready(), told], [[], []], "there is no place yet");
  place();
  await clock.run(4_999);
  assert.deepEqual(runtime.ready(), []);
  await clock.run(1);
  await clock.run(0);
  assert.deepEqual([runtime.ready(), told], [["a"], ["a"]]);
  assert.deepEqual(await runtime.ensure(plane), {
    ...{ readyReplicas: 1, version: "v1.34.2" },
    components: [{ component: "kube-apiserver", ready: true }],
  });
  assert.equal((await runtime.transport("a").request({ method: "GET", path: "/version" })).status, 200);
  runtime.crash("a");
  assert.deepEqual([runtime.ready(), told.length], [[], 2]);
  await assert.rejects(runtime.transport("a").request({ method: "GET", path: "/version" }), { code: "Unavailable" });
  await clock.run(3_000);
  assert.deepEqual(runtime.ready(), ["a"]);
  assert.deepEqual(await runtime.ensure({ ...plane, replicas: 0 }), { readyReplicas: 0, components: [] });
  await runtime.close();
  assert.deepEqual(runtime.ready(), []);
});

test("a plane does not start while its database, or that of an override, is away or has no place of it", async () => {
  const ready = async (change: (of: ReturnType<typeof rig>) => void): Promise<boolean> => {
    const of = rig();
    for (const name of ["db", "other"]) of.place(name);
    change(of);
    const store = { ...of.plane.store!, overrides: [{ resource: "/events", endpoints: ["other"] }] };
    await of.runtime.ensure({ ...of.plane, store });
    await of.clock.run(3_000);
    const isReady = of.runtime.ready().length === 1;
    await of.runtime.close();
    return isReady;
  };
  assert.equal(await ready(() => {}), true);
  for (const name of ["db", "other"]) {
    assert.equal(await ready(({ databases }) => (databases.get(name)!.isUp = false)), false);
    assert.equal(await ready(({ databases }) => databases.get(name)!.places.clear()), false);
    assert.equal(await ready(({ databases }) => databases.delete(name)), false);
  }
});

test("objects that are lost, or another tenant's, are noticed", async () => {
  const { clock, runtime, plane, place, written, databases } = rig();
  written.add("a");
  place();
  await runtime.ensure(plane);
  await clock.run(3_000);
  assert.deepEqual(runtime.broken, ["a lost its objects"]);
  databases.get("db")!.places.get("s")!.data.set("/written", "b");
  await runtime.ensure({ ...plane, version: "v1.34.3" });
  await clock.run(3_000);
  assert.deepEqual(runtime.broken[1], "a found the objects of b");
  await runtime.close();
});

test("planes have ports of their own, kept until they are removed", async () => {
  const { runtime } = rig();
  const wish = { port: 0, exact: false };
  assert.deepEqual(await runtime.place("a", wish), { host: "10.0.0.1", port: 6443 });
  assert.deepEqual(await runtime.place("b", wish), { host: "10.0.0.1", port: 6444 });
  assert.deepEqual(await runtime.place("a", { host: "x", port: 1, exact: true }), { host: "10.0.0.1", port: 6443 });
  assert.deepEqual(await runtime.place("c", { host: "x", port: 6444, exact: false }), { host: "x", port: 6445 });
  await runtime.remove("a");
  assert.deepEqual(await runtime.place("d", wish), { host: "10.0.0.1", port: 6443 });
  assert.equal(await runtime.releaseOf("v1.35"), "v1.35.0");
});

test("a simulated database keeps a place to its user, refuses when it is away or full, and ends a call half-way where it is told to", async () => {
  const { databases, clock } = rig();
  const database = databases.get("db")!;
  const store = database.connection("etcd");
  const done = async <T>(work: Promise<T>): Promise<T> => {
    const settled = work.then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    await clock.run(1_000);
    return (await settled)();
  };
  const place = { schema: "s", user: "u" };
  await done(store.ensure(place, signal));
  await done(store.ensure(place, signal));
  assert.deepEqual(
    [database.users.has("u"), await done(store.places(signal)), await done(store.count(place, signal))],
    [true, ["s"], 0],
  );
  await assert.rejects(done(store.ensure({ schema: "s", user: "v" }, signal)), {
    code: "AlreadyExists",
    message: "s: it is of user u",
  });
  const other = databases.get("other")!;
  const to = other.connection("etcd");
  await assert.rejects(done(store.copy(place, to, () => {}, signal)), { code: "NotFound" });
  await done(to.ensure(place, signal));
  database.places.get("s")!.data.set("k", "v").set("l", "w");
  const progress: number[] = [];
  await done(store.copy(place, to, (count) => progress.push(count), signal));
  assert.deepEqual([progress, await done(to.count(place, signal))], [[1, 2], 2]);
  await assert.rejects(done(store.copy(place, to, () => {}, signal)), { code: "Conflict" });
  assert.deepEqual(await done(store.remove(place, signal)), []);
  assert.deepEqual([database.places.size, database.users.has("u")], [0, false]);
  database.isFull = true;
  await assert.rejects(done(store.ensure(place, signal)), { remedy: "make room" });
  assert.equal(database.users.size, 1, "the user of another try");
  database.isUp = false;
  await assert.rejects(done(store.check(signal)), { code: "Unavailable", message: /connection refused/ });
  database.mend();
  await done(store.check(signal));
  const half = new SimDatabase(clock, (call) => {
    if (call === "make place") throw new Fault("LostAnswer", "db", "lost");
  });
  await assert.rejects(done(half.connection("etcd").ensure(place, signal)), { code: "LostAnswer" });
  assert.deepEqual([half.users.has("u"), half.places.size], [true, 0]);
});
