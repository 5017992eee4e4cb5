import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { EtcdClient, KeyValue } from "./client.ts";
import { copyKeys, countKeys } from "./copy.ts";

const { signal } = new AbortController();
const place = { schema: "a", user: "a" };
const range = { key: "/a/", end: "/a0" };
const kv = (key: string, { bytes = 1, lease = 0n } = {}): KeyValue => ({
  key: Buffer.from(key),
  value: Buffer.alloc(bytes, 1),
  lease,
});
const keyNumber = (at: number): string => `/a/${String(at).padStart(5, "0")}`;

/** An etcd of these keys, in order; `left`: seconds that its leases have. */
function etcdOf(keys: readonly KeyValue[], { left = {} as Record<string, bigint> } = {}) {
  const put: KeyValue[][] = [];
  const granted: bigint[] = [];
  const revisions: bigint[] = [];
  const client = {
    async range(query: { key: string | Uint8Array; end: string; limit: number; revision: bigint; keysOnly?: boolean }) {
      revisions.push(query.revision);
      const from = Buffer.from(query.key);
      const found = keys.filter(
        ({ key }) => Buffer.compare(key, from) >= 0 && Buffer.compare(key, Buffer.from(query.end)) < 0,
      );
      return { kvs: found.slice(0, query.limit), more: found.length > query.limit, revision: 42n };
    },
    async putAll(kvs: readonly KeyValue[]) {
      put.push([...kvs]);
    },
    leaseLeft: async (lease: bigint) => left[String(lease)] ?? -1n,
    async grantLease(seconds: bigint) {
      granted.push(seconds);
      return 1000n + seconds;
    },
  };
  return { client: client as unknown as EtcdClient, put, granted, revisions };
}

async function copied(from: ReturnType<typeof etcdOf>, to = etcdOf([])): Promise<{ to: typeof to; done: number[] }> {
  const done: number[] = [];
  const progress = (count: number): void => void done.push(count);
  await copyKeys({ from: from.client, to: to.client, place, ...range, progress, signal });
  return { to, done };
}

test("every key is copied once, by pages of one revision, in transactions that etcd takes", async () => {
  const from = etcdOf(Array.from({ length: 1_201 }, (_, at) => kv(keyNumber(at))));
  const { to, done } = await copied(from);
  const keys = to.put.flat().map(({ key }) => Buffer.from(key).toString());
  assert.deepEqual(
    keys,
    Array.from({ length: 1_201 }, (_, at) => keyNumber(at)),
  );
  assert.deepEqual(from.revisions, [0n, 42n, 42n], "the first page's revision holds for all");
  assert.equal(Math.max(...to.put.map(({ length }) => length)), 100);
  assert.equal(to.put.length, 13);
  assert.deepEqual([done[0], done.at(-1)], [100, 1_201]);
});

test("a transaction ends before it has a megabyte; a value that is larger goes alone", async () => {
  const sizes = [400_000, 400_000, 400_000, 1_200_000, 10];
  const { to } = await copied(etcdOf(sizes.map((bytes, at) => kv(keyNumber(at), { bytes }))));
  assert.deepEqual(
    to.put.map((batch) => batch.map(({ value }) => value.length)),
    [[400_000, 400_000], [400_000], [1_200_000], [10]],
  );
});

test("a lease becomes one of the target with the time that is left, once; keys whose lease is over are left out", async () => {
  const from = etcdOf(
    [
      kv("/a/1", { lease: 7n }),
      kv("/a/2", { lease: 7n }),
      kv("/a/3", { lease: 8n }),
      kv("/a/4"),
      kv("/a/5", { lease: 9n }),
    ],
    { left: { 7: 30n, 8: -1n, 9: 0n } },
  );
  const { to, done } = await copied(from);
  assert.deepEqual(to.granted, [30n]);
  assert.deepEqual(
    to.put.flat().map(({ key, lease }) => [Buffer.from(key).toString(), lease]),
    [
      ["/a/1", 1030n],
      ["/a/2", 1030n],
      ["/a/4", 0n],
    ],
  );
  assert.deepEqual(done, [5]);
  assert.deepEqual((await copied(etcdOf([kv("/a/1", { lease: 8n })]))).to.put, [], "no empty transaction");
});

test("where the target has keys of that place, nothing is written", async () => {
  const to = etcdOf([kv("/a/1")]);
  await assert.rejects(
    copied(etcdOf([kv("/a/2")]), to),
    (error) => isFault(error, "Conflict") && /keys below \/a\//.test(error.message),
  );
  assert.deepEqual(to.put, []);
  await copied(etcdOf([kv("/a/2")]), etcdOf([kv("/b/1")]));
});

test("keys with a lease are not counted: they may end between two counts", async () => {
  const { client } = etcdOf([kv("/a/1"), kv("/a/2", { lease: 7n }), kv("/a/3"), kv("/a00")]);
  assert.equal(await countKeys(client, range, signal), 2);
  assert.equal(await countKeys(etcdOf([]).client, range, signal), 0);
});
