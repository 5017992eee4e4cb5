import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Node } from "./core.ts";
import type { KubeObject } from "./object.ts";
import { StoreCache } from "./store-cache.ts";

const map = (name: string, version: number, namespace = "a"): ConfigMap =>
  ({ metadata: { name, namespace, uid: name, resourceVersion: String(version) } }) as ConfigMap;
const named = (objects: readonly KubeObject[]): string[] =>
  objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);

test("sources of one selection share a store, and one that needs the kind makes it needed", () => {
  const cache = new StoreCache();
  const first = cache.watched({ resource: ConfigMap }, {}, false);
  assert.equal(cache.watched({ resource: ConfigMap }, {}, true), first);
  assert.equal(first.optional, true);
  assert.notEqual(cache.watched({ resource: ConfigMap, namespace: "a" }), first);
  assert.notEqual(cache.watched({ resource: ConfigMap, labelSelector: "a" }), first);
  cache.watched({ resource: Node });
  assert.equal(cache.all().length, 4);
});

test("what is not watched, and what was not listed yet, is an error and not an absence", () => {
  const cache = new StoreCache();
  assert.throws(() => cache.get(ConfigMap, { namespace: "a", name: "x" }), { code: "Undeclared" });
  const { store } = cache.watched({ resource: ConfigMap, namespace: "a" });
  assert.throws(() => cache.list(ConfigMap, "b"), { code: "Undeclared" });
  assert.throws(() => cache.list(ConfigMap, "a"), { code: "Unavailable", message: /not been listed yet/ });
  store.markMissing();
  assert.throws(() => cache.get(ConfigMap, { namespace: "a", name: "x" }), {
    message: /does not serve it/,
    retryAfterMs: 500,
  });
  store.replace([]);
  assert.equal(cache.get(ConfigMap, { namespace: "a", name: "x" }), undefined);
});

test("an optional kind that is missing reads as empty, but not before it is known to be", () => {
  const cache = new StoreCache();
  const { store } = cache.watched({ resource: Node }, {}, true);
  assert.throws(() => cache.list(Node), { code: "Unavailable" });
  store.markMissing();
  assert.deepEqual(cache.list(Node), []);
});

test("of selections that overlap, the newest state of an object counts", () => {
  const cache = new StoreCache();
  const everywhere = cache.watched({ resource: ConfigMap }).store;
  const labelled = cache.watched({ resource: ConfigMap, namespace: "a", labelSelector: "x" }).store;
  everywhere.replace([map("one", 3), map("two", 9), map("far", 1, "b")]);
  labelled.replace([map("one", 5), map("two", 8)]);
  assert.deepEqual(named(cache.list(ConfigMap)), ["one@5", "two@9", "far@1"]);
  assert.deepEqual(named(cache.list(ConfigMap, "a")), ["one@5", "two@9"]);
  assert.deepEqual(named(cache.list(ConfigMap, "b")), ["far@1"]);
  assert.equal(cache.get(ConfigMap, { namespace: "a", name: "one" })?.metadata.resourceVersion, "5");
  assert.equal(cache.get(ConfigMap, { namespace: "a", name: "two" })?.metadata.resourceVersion, "9");
});

test("an index is asked in the stores that have it; one that no source declares, or two declare, is an error", () => {
  const cache = new StoreCache();
  const byName = ({ metadata }: KubeObject): string[] => [metadata.name];
  cache.watched({ resource: ConfigMap }, { name: byName }).store.replace([map("one", 3)]);
  cache.watched({ resource: ConfigMap, namespace: "a" }).store.replace([map("one", 3), map("other", 4)]);
  assert.deepEqual(named(cache.byIndex(ConfigMap, "name", "one")), ["one@3"]);
  assert.throws(() => cache.byIndex(ConfigMap, "colour", "red"), { code: "Undeclared" });
  assert.throws(() => cache.watched({ resource: ConfigMap }, { name: () => [] }), { code: "Bug" });
});
