import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { Applied, type Cluster, covers } from "./applied.ts";

const OWNER = "uid-of-tenant";
const REF = { namespace: "team", name: "a" };
const wanted = (data: Record<string, string> = { colour: "blue" }) =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: { ...REF, labels: { app: "a" } }, data }) as const;

/** A cluster that keeps what is applied, as `stored` makes it; `live` is what the cache has. */
function clusterOf(stored: (body: KubeObject) => KubeObject = (body) => body) {
  const asked: string[] = [];
  const at: { live?: KubeObject & Record<string, unknown> } = {};
  const cluster = {
    cache: { get: () => at.live },
    client: {
      async patch(
        _: Resource<ConfigMap>,
        ref: typeof REF,
        { type, body, fieldManager, force }: Record<string, unknown>,
      ) {
        assert.deepEqual([type, fieldManager, force], ["apply", "slipway", true]);
        asked.push(`apply ${ref.namespace}/${ref.name}`);
        const made = stored(structuredClone(body) as KubeObject);
        at.live = { ...made, metadata: { ...at.live?.metadata, ...made.metadata, uid: "uid-1", resourceVersion: "1" } };
        return at.live;
      },
      async delete(_: Resource<ConfigMap>, ref: { name: string }, { uid }: { uid: string }) {
        asked.push(`delete ${ref.name} ${uid}`);
        throw new Fault("Unavailable", "api", "not reached");
      },
    },
  } as unknown as Cluster;
  const keep = async (applied: Applied, data?: Record<string, string>): Promise<string[]> => {
    await applied.keep(cluster, ConfigMap, wanted(data) as never);
    return asked.splice(0);
  };
  return { cluster, at, asked, keep };
}

test("B26 an object that is as wanted costs no request; another wish, and a change by somebody, does", async () => {
  const { at, keep } = clusterOf();
  const applied = new Applied();
  assert.deepEqual(await keep(applied), ["apply team/a"]);
  assert.deepEqual(await keep(applied), []);
  assert.deepEqual(await keep(new Applied()), [], "a new process has nothing to do either");
  assert.deepEqual(await keep(applied, { colour: "red" }), ["apply team/a"]);

  at.live = { ...at.live!, data: { colour: "green" } };
  assert.deepEqual(await keep(applied, { colour: "red" }), ["apply team/a"], "somebody changed it");
  at.live = { ...at.live!, data: { colour: "red", size: "1" } };
  assert.deepEqual(await keep(applied, { colour: "red" }), [], "fields of others stay");
  at.live = { ...at.live!, data: { colour: "red" } };
  assert.deepEqual(await keep(applied, {}), ["apply team/a"], "a field that is no longer wanted");
});

test("an object that is being deleted is applied again: the next one is another", async () => {
  const { at, keep } = clusterOf();
  const applied = new Applied();
  await keep(applied);
  at.live!.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
  assert.deepEqual(await keep(applied), ["apply team/a"]);
});

test("what the API writes otherwise is applied once, and again when it changes from that", async () => {
  const { at, keep } = clusterOf((body) => ({ ...body, data: { amount: "1" } }) as KubeObject);
  const applied = new Applied();
  assert.deepEqual(await keep(applied, { amount: "1000m" }), ["apply team/a"]);
  assert.deepEqual(await keep(applied, { amount: "1000m" }), []);
  at.live = { ...at.live!, status: { seen: true } };
  assert.deepEqual(await keep(applied, { amount: "1000m" }), [], "a status is no change");
  at.live = { ...at.live!, data: { amount: "2" } };
  assert.deepEqual(await keep(applied, { amount: "1000m" }), ["apply team/a"]);
  for (const metadata of [
    { ownerReferences: [] },
    { labels: {} },
    { annotations: { ...at.live.metadata.annotations, x: "" } },
  ]) {
    at.live = { ...at.live, metadata: { ...at.live.metadata, ...metadata } };
    assert.deepEqual(await keep(applied, { amount: "1000m" }), ["apply team/a"], JSON.stringify(metadata));
  }
});

test("only an object that the tenant controls is dropped, once, and a refusal is not lost", async () => {
  const { cluster, at, asked } = clusterOf();
  const applied = new Applied();
  const drop = () => applied.drop(cluster, ConfigMap, REF, OWNER);
  const object = (owner: object, more: object = {}) =>
    ({ metadata: { ...REF, uid: "uid-1", ownerReferences: [owner], ...more } }) as unknown as KubeObject &
      Record<string, unknown>;
  await drop();
  for (const live of [
    object({ uid: "another", controller: true }),
    object({ uid: OWNER, controller: false }),
    object({ uid: OWNER, controller: true }, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
  ]) {
    at.live = live;
    await drop();
  }
  assert.deepEqual(asked, []);
  at.live = object({ uid: OWNER, controller: true });
  await assert.rejects(drop(), (error) => isFault(error, "Unavailable"));
  assert.deepEqual(asked, ["delete a uid-1"]);
});

test("an object covers another that has nothing more, lists item by item", () => {
  const live = { a: [{ b: 1, c: 2 }, { b: 3 }], d: null, e: { f: "g" } };
  for (const one of [{}, { a: [{ b: 1 }, {}] }, { e: { f: "g" } }, { d: null }, { x: undefined }, live])
    assert.ok(covers(live, one), JSON.stringify(one));
  for (const one of [{ a: [{ b: 1 }] }, { a: [{ b: 3 }, {}] }, { e: "g" }, { e: [] }, { d: {} }, { x: null }])
    assert.equal(covers(live, one), false, JSON.stringify(one));
});
