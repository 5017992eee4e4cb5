import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault, quietLog } from "@slipway/base";
import type { EtcdDatastore } from "../../src/datastores/etcd/etcd.ts";
import { promises } from "./promises.ts";
import { etcd, NEEDS, startEtcd } from "./servers/etcd.ts";
import { skipWithout } from "./servers/programs.ts";
import { opened, PATIENT, place } from "./servers/stage.ts";

const skip = skipWithout(NEEDS, "make kube-assets");
promises(etcd, skip);

const KEYS = 3_000;
const PUTS = 100;
const HOUR = 3600n;

/** Keys of different lengths, among them one as long as etcd takes and one that has a lease. */
async function fill({ client }: EtcdDatastore, schema: string): Promise<void> {
  const value = (i: number): Buffer => Buffer.alloc(i === 7 ? 1_400_000 : i % 700, i % 256);
  const all = Array.from({ length: KEYS }, (_, i) => ({
    key: Buffer.from(`/${schema}/key-${i}`),
    value: value(i),
    lease: 0n,
  }));
  all[1]!.lease = await client.grantLease(HOUR, PATIENT);
  await client.putAll([all[7]!], PATIENT);
  all.splice(7, 1);
  for (let i = 0; i < all.length; i += PUTS) await client.putAll(all.slice(i, i + PUTS), PATIENT);
}

async function keys({ client }: EtcdDatastore, schema: string) {
  const { kvs } = await client.range({ key: `/${schema}/`, end: `/${schema}0`, limit: 0, revision: 0n }, PATIENT);
  return kvs.map(({ key, value, lease }) => ({
    key: Buffer.from(key).toString(),
    value: Buffer.from(value),
    leased: lease !== 0n,
  }));
}

test(`etcd: ${KEYS} keys are copied with their leases, and no other tenant's`, { skip }, async (t) => {
  const from = (await opened(t, await startEtcd(t))) as EtcdDatastore;
  const target = await startEtcd(t);
  const to = (await opened(t, target)) as EtcdDatastore;
  const [one, two] = [place("one"), place("one-more")];
  for (const each of [one, two]) {
    await from.ensure(each, PATIENT);
    await fill(from, each.schema);
  }
  await to.ensure(one, PATIENT);
  const progress: number[] = [];
  await from.copy(one, to, (done) => progress.push(done), PATIENT);
  assert.equal(progress.at(-1), KEYS);
  assert.deepEqual(
    progress,
    [...progress].sort((a, b) => a - b),
  );
  const copied = await keys(to, "one");
  assert.deepEqual(copied, await keys(from, "one"));
  // One of them has a lease.
  assert.deepEqual([await from.count(one, PATIENT), await to.count(one, PATIENT)], [KEYS - 1, KEYS - 1]);
  assert.deepEqual(
    copied.filter(({ leased }) => leased).map(({ key }) => key),
    ["/one/key-1"],
  );
  assert.deepEqual(await keys(to, "one-more"), []);
  await assert.rejects(
    from.copy(one, to, () => {}, PATIENT),
    (error) => isFault(error, "Conflict"),
  );
});

test("etcd: a full one says so, is still emptied, and goes on", { skip }, async (t) => {
  const from = (await opened(t, await startEtcd(t))) as EtcdDatastore;
  const target = await startEtcd(t, ["--quota-backend-bytes=2000000"]);
  const to = await opened(t, target);
  const before = await target.contents();
  const one = place("one");
  for (const each of [from, to]) await each.ensure(one, PATIENT);
  await fill(from, "one");
  await assert.rejects(
    from.copy(one, to, () => {}, PATIENT),
    (error) => isFault(error, "NoCapacity") && /NOSPACE/.test(error.advice),
  );
  assert.deepEqual(await to.remove(one, PATIENT), []);
  assert.deepEqual(await target.contents(), before);
});

test("etcd: with authentication off it works, too, and the log says what that means", { skip }, async (t) => {
  const server = await startEtcd(t, [], false);
  const warnings: string[] = [];
  const log = { ...quietLog, warn: (_: object, text: string) => void warnings.push(text) };
  const datastore = await opened(t, server, { log });
  await datastore.check(PATIENT);
  await datastore.check(PATIENT);
  assert.deepEqual(warnings, ["etcd's authentication is off: tenants' certificates open every place"]);
  await datastore.ensure(place("one"), PATIENT);
  assert.deepEqual(await server.contents(), ["role one", "user one"]);
  assert.deepEqual(await datastore.remove(place("one"), PATIENT), []);
  assert.deepEqual(await server.contents(), []);
});

test("etcd: B28 what is no tenant's is neither taken over nor removed", { skip }, async (t) => {
  const server = await startEtcd(t);
  const datastore = (await opened(t, server)) as EtcdDatastore;
  const { client } = datastore;
  await client.putAll([{ key: Buffer.from("/registry/pods"), value: Buffer.from("x"), lease: 0n }], PATIENT);
  await client.addRole("wide", PATIENT);
  await client.grantRange("wide", "/", "0", PATIENT);
  await client.addUser("operator", PATIENT);
  await client.grantRole("operator", "root", PATIENT);
  const before = await server.contents();
  for (const foreign of [place("registry"), place("wide"), { schema: "one", user: "operator" }]) {
    await assert.rejects(datastore.ensure(foreign, PATIENT), (error) => isFault(error, "AlreadyExists"));
    assert.equal((await datastore.remove(foreign, PATIENT)).length, 1);
  }
  assert.deepEqual(await server.contents(), before);
  assert.deepEqual(await datastore.places(PATIENT), []);
});
