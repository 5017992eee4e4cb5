import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Client } from "./client.ts";
import { ConfigMap, Secret } from "./core.ts";
import { OwnWrites } from "./own-writes.ts";
import { StoreCache } from "./store-cache.ts";

const at = (resourceVersion: string): ConfigMap =>
  ({ metadata: { name: "a", namespace: "default", uid: "1", resourceVersion } }) as ConfigMap;

/** What was written under `key` with these versions, over a cache that held version 1. */
async function written(...versions: string[]) {
  const clock = new VirtualClock();
  const cache = new StoreCache();
  const { store } = cache.watched({ resource: ConfigMap });
  store.replace([at("1")]);
  const writes = new OwnWrites(clock, cache, [ConfigMap]);
  const api = { update: async () => at(versions.shift()!), create: async () => at("9") } as unknown as Client;
  const client = writes.noting(api, "key");
  while (versions.length > 0) await client.update(ConfigMap, at("1"));
  return { clock, store, writes, client };
}

test("a key is behind until the cache shows what was written for it, and no other key is", async () => {
  const { store, writes } = await written("2", "3");
  assert.ok(writes.behind("key"));
  assert.ok(!writes.behind("other"));
  store.put(at("2"));
  assert.ok(writes.behind("key"));
  store.put(at("3"));
  assert.ok(!writes.behind("key"));
});

test("an object that was deleted after the write is not waited for", async () => {
  const { store, writes } = await written("2");
  store.remove(at("4"));
  assert.ok(!writes.behind("key"));
});

test("a created object is waited for until it is there", async () => {
  const { store, writes, client } = await written();
  store.remove(at("1"));
  await client.create(ConfigMap, at("0"));
  assert.ok(writes.behind("key"));
  store.put(at("9"));
  assert.ok(!writes.behind("key"));
});

test("a watch that never shows the write holds nobody up for longer than ten seconds", async () => {
  const { clock, writes } = await written("2");
  await clock.run(9_999);
  assert.ok(writes.behind("key"));
  await clock.run(1);
  assert.ok(!writes.behind("key"));
});

test("writes of what is not watched are not waited for", async () => {
  const { writes, client } = await written();
  await client.create(Secret, { metadata: { name: "a", namespace: "default" } });
  assert.ok(!writes.behind("key"));
});
