import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "./object.ts";
import { Store } from "./store.ts";

const boat = (name: string, version: number, of: object = {}): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Boat",
    metadata: { name, uid: `uid-${name}`, resourceVersion: String(version), ...of },
  }) as KubeObject;

/** A store, and what its listener got. */
function world() {
  const store = new Store();
  const told: string[] = [];
  store.listen(({ type, object, before, initial }) => {
    const [is, was] = [object.metadata.resourceVersion, before?.metadata.resourceVersion ?? "-"];
    told.push(`${type} ${object.metadata.name} ${was}>${is}${initial ? " initial" : ""}`);
  });
  return { store, told };
}
const names = (objects: Iterable<KubeObject>): string[] => [...objects].map(({ metadata }) => metadata.name);
/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let is = false;
  void promise.then(() => {
    is = true;
  });
  await new Promise(setImmediate);
  return is;
}

test("a store is filled by its first whole list, and says so once", async () => {
  const { store, told } = world();
  const [filled, answered] = [store.whenSynced(), store.whenAnswered()];
  store.put(boat("early", 1));
  assert.deepEqual([store.synced, await isSettled(filled), await isSettled(answered)], [false, false, false]);
  store.replace([boat("early", 1), boat("a", 2)]);
  assert.deepEqual([store.synced, await isSettled(filled), await isSettled(answered)], [true, true, true]);
  store.replace([boat("a", 3), boat("b", 3)]);
  assert.deepEqual(told, [
    "added early ->1",
    "added a ->2 initial",
    "updated a 2>3",
    "added b ->3",
    "deleted early 1>1",
  ]);
  assert.deepEqual([names(store.values()), store.size, store.get("a")?.metadata.resourceVersion], [["a", "b"], 2, "3"]);
});

test("an older version changes nothing, and neither does the end of an older incarnation", () => {
  const { store, told } = world();
  store.put(boat("a", 5));
  store.put(boat("a", 5));
  store.put(boat("a", 4));
  store.remove(boat("a", 4));
  store.remove(boat("never", 9));
  assert.deepEqual([told, store.size], [["added a ->5"], 1]);
  store.remove(boat("a", 6, { deletionTimestamp: "2026-01-01T00:00:00Z" }));
  assert.deepEqual([told.at(-1), store.size], ["deleted a 5>6", 0]);
});

test("an object of the same version with another uid is another object", () => {
  const { store, told } = world();
  store.replace([boat("a", 5)]);
  store.replace([boat("a", 5)]);
  store.replace([boat("a", 5, { uid: "other" })]);
  assert.deepEqual(told, ["added a ->5 initial", "updated a 5>5"]);
});

test("objects are found by declared values, and no longer by those that they had", () => {
  const { store } = world();
  const byColour = ({ metadata }: KubeObject): string[] => Object.values(metadata.labels ?? {});
  assert.deepEqual([store.addIndex("colour", byColour), store.addIndex("colour", byColour)], [true, true]);
  assert.equal(
    store.addIndex("colour", () => []),
    false,
    "another function has the name",
  );
  assert.deepEqual([store.hasIndex("colour"), store.hasIndex("size")], [true, false]);
  store.put(boat("a", 1, { labels: { hull: "red", sail: "white" } }));
  store.put(boat("b", 2, { labels: { hull: "red" } }));
  assert.deepEqual(
    [names(store.byIndex("colour", "red")), names(store.byIndex("colour", "white"))],
    [["a", "b"], ["a"]],
  );
  store.put(boat("a", 3, { labels: { hull: "blue" } }));
  assert.deepEqual([names(store.byIndex("colour", "red")), names(store.byIndex("colour", "white"))], [["b"], []]);
  store.remove(boat("b", 4));
  assert.deepEqual([names(store.byIndex("colour", "red")), names(store.byIndex("colour", "blue"))], [[], ["a"]]);
  assert.deepEqual(store.byIndex("size", "big"), []);
});

test("a resource that the API does not serve is noted once, its objects stay, and it may come back", async () => {
  const { store } = world();
  const missing: boolean[] = [];
  store.listenMissing((is) => missing.push(is));
  store.markMissing();
  store.markMissing();
  assert.deepEqual(
    [store.missing, await isSettled(store.whenAnswered()), await isSettled(store.whenSynced())],
    [true, true, false],
  );
  store.replace([boat("a", 1)]);
  store.markMissing();
  assert.deepEqual([missing, store.size], [[true, false, true], 1]);
});

test("what nobody reads of an object is not kept", () => {
  const { store } = world();
  store.put(boat("a", 1, { managedFields: [{ manager: "x" }] }));
  assert.equal(store.get("a")?.metadata.managedFields, undefined);
});
