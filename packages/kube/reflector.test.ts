import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import { type ConfigMap, Node } from "./core.ts";
import { EventPipe } from "./event-pipe.ts";
import { FakeApi } from "./fake-api.ts";
import type { KubeObject } from "./object.ts";
import { reflect } from "./reflector.ts";
import { createClient } from "./rest-client.ts";
import { type Change, Store } from "./store.ts";
import type { WatchEvent } from "./transport.ts";

const NODES = "/api/v1/nodes";
const node = (name: string, value = ""): object => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels: { value }, managedFields: [{ manager: "x" }] },
});

function world(streamsLists = false) {
  const api = new FakeApi();
  api.streamsLists = streamsLists;
  const clock = new VirtualClock();
  const random = seededRandom(7);
  const client = createClient(api, { clock, random, log: quietLog });
  const store = new Store<Node>();
  const changes: Change<Node>[] = [];
  store.listen((change) => changes.push(change));
  const stop = new AbortController();
  const ended = reflect({ resource: Node }, store, { client, clock, random, log: quietLog }, stop.signal);
  const halt = async (): Promise<void> => {
    stop.abort();
    await ended;
  };
  return { api, clock, store, changes, halt };
}

function summary(objects: Iterable<KubeObject>): string[] {
  return [...objects].map((o) => `${o.metadata.name}@${o.metadata.resourceVersion}`).sort();
}

test("the first list is reported as initial, later changes are not", async () => {
  const { api, clock, store, changes, halt } = world();
  api.put(`${NODES}/a`, node("a"));
  await clock.run(100);
  api.put(`${NODES}/b`, node("b"));
  api.put(`${NODES}/a`, node("a", "2"));
  api.remove(`${NODES}/b`);
  await clock.run(100);
  assert.deepEqual(
    changes.map((c) => `${c.type} ${c.object.metadata.name} ${c.initial}`),
    ["added a true", "added b false", "updated a false", "deleted b false"],
  );
  assert.equal(store.get("a")?.metadata.managedFields, undefined);
  await halt();
  assert.equal(api.watchers, 0);
  assert.equal(clock.pending, 0);
});

test("where the API streams what there is, nothing is listed", async () => {
  const { api, clock, store, changes, halt } = world(true);
  api.put(`${NODES}/a`, node("a"));
  api.put(`${NODES}/b`, node("b"));
  await clock.run(100);
  api.remove(`${NODES}/b`);
  api.disconnect();
  api.put(`${NODES}/c`, node("c"));
  api.compact();
  await clock.run(60_000);
  assert.deepEqual(
    changes.map((c) => `${c.type} ${c.object.metadata.name} ${c.initial}`),
    ["added a true", "added b true", "deleted b false", "added c false"],
  );
  assert.deepEqual(summary(store.values()), summary(api.objects.values()));
  assert.deepEqual(api.requests, []);
  await halt();
  assert.equal(clock.pending, 0);
});

test("a stream that breaks before what there is has been reported changes nothing", async () => {
  const { api, clock, store, changes, halt } = world(true);
  api.put(`${NODES}/a`, node("a"));
  await clock.run(100);
  const half = new EventPipe<WatchEvent>(1e9, () => {});
  half.put({ type: "ADDED", object: node("z") });
  api.intercept = () => ({ [Symbol.asyncIterator]: () => half.values(() => {}) }) as never;
  api.compact();
  api.disconnect(new Fault("Gone", "watch", "too old"));
  await clock.run(2_000);
  half.end();
  api.intercept = () => undefined;
  await clock.run(60_000);
  assert.deepEqual(
    changes.map((c) => `${c.type} ${c.object.metadata.name}`),
    ["added a"],
  );
  assert.deepEqual(summary(store.values()), summary(api.objects.values()));
  await halt();
});

test("after 410 the list is read anew and the difference is reported", async () => {
  const { api, clock, store, changes, halt } = world();
  api.put(`${NODES}/a`, node("a"));
  api.put(`${NODES}/b`, node("b"));
  await clock.run(100);
  api.disconnect();
  api.remove(`${NODES}/a`);
  api.put(`${NODES}/c`, node("c"));
  api.compact();
  await clock.run(60_000);
  assert.deepEqual(
    changes.slice(2).map((c) => `${c.type} ${c.object.metadata.name}`),
    ["added c", "deleted a"],
  );
  assert.deepEqual(summary(store.values()), summary(api.objects.values()));
  await halt();
});

test("a stream that falls silent is opened again", async () => {
  const { api, clock, store, halt } = world();
  await clock.run(100);
  let opened = 0;
  api.intercept = (request) => {
    if (request.query?.watch === "true") opened++;
    return undefined;
  };
  // Not even bookmarks come on the first stream.
  await clock.run(151_000);
  assert.equal(opened, 1);
  api.put(`${NODES}/a`, node("a"));
  await clock.run(100);
  assert.equal(store.size, 1);
  await halt();
});

test("a server that refuses everything is asked ever more seldom", async () => {
  const { api, clock, halt } = world();
  await clock.run(100);
  let asked = 0;
  api.intercept = () => {
    asked++;
    throw new Fault("Unavailable", "api", "refused");
  };
  api.disconnect();
  await clock.run(10 * 60_000);
  assert.ok(asked > 10 && asked < 60, `${asked} requests in 10 minutes`);
  await halt();
});

test("a watch that lived ends a row of failures, even if nothing happened on it: the next outage is waited out from the beginning", async () => {
  const { api, clock, halt } = world();
  let down = false;
  let asked = 0;
  api.intercept = () => {
    asked++;
    if (down) throw new Fault("Unavailable", "api", "refused");
    return undefined;
  };
  for (let outage = 0; outage < 5; outage++) {
    await clock.run(40_000);
    down = true;
    api.disconnect(new Fault("LostAnswer", "api", "reset"));
    asked = 0;
    await clock.run(5_000);
    assert.ok(asked >= 2, `${asked} tries in the first 5 s of outage ${outage}`);
    down = false;
  }
  await halt();
});

test("a server that closes each watch at once does not make the reflector spin", async () => {
  const { api, clock, halt } = world();
  let opened = 0;
  api.intercept = (request) => {
    if (request.query?.watch !== "true") return undefined;
    opened++;
    setImmediate(() => api.disconnect());
    return undefined;
  };
  await clock.run(60_000);
  assert.ok(opened > 2 && opened < 20, `${opened} watches in a minute`);
  await halt();
});

type Act =
  | { do: "put"; name: string; value: string }
  | { do: "remove"; name: string }
  | { do: "disconnect"; broken: boolean }
  | { do: "compact" }
  | { do: "repeat"; back: number }
  | { do: "bookmark" }
  | { do: "outage"; requests: number }
  | { do: "pass"; ms: number };

const name = fc.constantFrom("a", "b", "c");
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("put" as const), name, value: fc.string({ maxLength: 2 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), name }) },
  fc.record({ do: fc.constant("disconnect" as const), broken: fc.boolean() }),
  fc.record({ do: fc.constant("compact" as const) }),
  fc.record({ do: fc.constant("repeat" as const), back: fc.nat(6) }),
  fc.record({ do: fc.constant("bookmark" as const) }),
  fc.record({ do: fc.constant("outage" as const), requests: fc.integer({ min: 1, max: 4 }) }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 40_000 }) }) },
);

function disturb(api: FakeApi, a: Exclude<Act, { do: "outage" | "pass" }>): void {
  if (a.do === "put") api.put(`${NODES}/${a.name}`, node(a.name, a.value));
  else if (a.do === "remove") api.remove(`${NODES}/${a.name}`);
  else if (a.do === "disconnect") api.disconnect(a.broken ? new Fault("LostAnswer", "api", "reset") : undefined);
  else if (a.do === "compact") api.compact();
  else if (a.do === "repeat") api.repeat(a.back);
  else api.bookmark();
}

/** The objects that are left after all changes that listeners got. No object goes back on the way. */
function addedUp(changes: ReturnType<typeof world>["changes"]): Iterable<KubeObject> {
  const reported = new Map<string, KubeObject>();
  const newest = new Map<string, number>();
  for (const { type, object, before } of changes) {
    const { name: of } = object.metadata;
    assert.equal(reported.get(of), before);
    if (type === "deleted") reported.delete(of);
    else {
      assert.ok(Number(object.metadata.resourceVersion) > (newest.get(of) ?? 0));
      newest.set(of, Number(object.metadata.resourceVersion));
      reported.set(of, object);
    }
  }
  return reported.values();
}

test("any mix of changes, disconnects, 410s, outages, repeated and stale events ends with the server's state", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
      const { api, clock, store, changes, halt } = world();
      let outage = 0;
      api.intercept = () => {
        if (outage-- > 0) throw new Fault("LostAnswer", "api", "reset");
        return undefined;
      };
      for (const a of acts) {
        if (a.do === "outage") outage = a.requests;
        else if (a.do === "pass") await clock.run(a.ms);
        else disturb(api, a);
      }
      await clock.run(120_000);
      assert.deepEqual(summary(store.values()), summary(api.objects.values()));
      assert.deepEqual(summary(addedUp(changes)), summary(api.objects.values()));
      await halt();
    }),
    { numRuns: 100 },
  );
});

test("indexes follow every change", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.constantFrom("x", "y", "z"), fc.boolean()), { maxLength: 30 }), (steps) => {
      const store = new Store<ConfigMap>();
      store.addIndex("value", (o) => [o.metadata.labels?.value ?? ""]);
      let version = 0;
      for (const [n, value, gone] of steps) {
        const metadata = { name: n, uid: n, resourceVersion: `${++version}`, creationTimestamp: "", labels: { value } };
        const object = { apiVersion: "v1", kind: "ConfigMap", metadata };
        if (gone) store.remove(object);
        else store.put(object);
      }
      for (const value of ["x", "y", "z"]) {
        const scanned = [...store.values()].filter((o) => o.metadata.labels?.value === value);
        assert.deepEqual(summary(store.byIndex("value", value)), summary(scanned));
      }
    }),
  );
});
