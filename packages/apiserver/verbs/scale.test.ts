/** The Scale of an object, whatever its kind: read, replaced, patched and applied. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DEFINITIONS, WIDGET, WIDGETS, type World, widgets, world } from "../testing.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const SCALE = `${DEPLOYMENTS}/a/scale`;
const OF_WIDGET = `${WIDGETS}/a/scale`;
const template = { metadata: { labels: { app: "x", tier: "web" } }, spec: { containers: [{ name: "a", image: "a" }] } };
const scale = (replicas: unknown, more: object = {}) => ({
  ...{ apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a", ...more }, spec: { replicas } },
});
const spec = (object: unknown) => (object as { spec: { replicas?: number } }).spec;

async function started(t: TestContext): Promise<World> {
  const w = await world();
  t.after(() => w.close());
  const selector = { matchLabels: { tier: "web", app: "x" } };
  await w.ask("POST", DEPLOYMENTS, { metadata: { name: "a" }, spec: { replicas: 2, selector, template } });
  await w.ask("POST", DEFINITIONS, widgets);
  await w.clock.settle();
  await w.ask("POST", WIDGETS, { ...WIDGET, metadata: { name: "a" }, spec: { count: 3 } });
  return w;
}

test("a Scale shows the replicas that are wanted, those that there are, and whom they are selected by", async (t) => {
  const w = await started(t);
  const { metadata, ...shown } = await w.ask("GET", SCALE);
  assert.deepEqual(shown, {
    ...{ kind: "Scale", apiVersion: "autoscaling/v1", spec: { replicas: 2 } },
    status: { replicas: 0, selector: "app=x,tier=web" },
  });
  const { metadata: of } = await w.ask("GET", `${DEPLOYMENTS}/a`);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = of;
  assert.deepEqual(metadata, { name, namespace, uid, resourceVersion, creationTimestamp });
  const widget = await w.ask("GET", OF_WIDGET);
  assert.deepEqual([spec(widget).replicas, widget.status], [3, { replicas: 0 }]);
});

test("a ReplicationController's selector is a plain map", async (t) => {
  const w = await started(t);
  const path = "/api/v1/namespaces/default/replicationcontrollers";
  await w.ask("POST", path, { metadata: { name: "a" }, spec: { selector: { app: "x" }, template } });
  assert.deepEqual((await w.ask("GET", `${path}/a/scale`)).status, { replicas: 0, selector: "app=x" });
});

test("replacing, patching and applying a Scale change the replicas of its object", async (t) => {
  const w = await started(t);
  const wanted = async () => spec(await w.ask("GET", `${DEPLOYMENTS}/a`)).replicas;
  assert.equal(spec(await w.ask("PUT", SCALE, scale(5))).replicas, 5);
  assert.equal(await wanted(), 5);
  await w.ask("PATCH", SCALE, { spec: { replicas: 6 } }, { contentType: "application/merge-patch+json" });
  assert.equal(await wanted(), 6);
  const operations = [{ op: "replace", path: "/spec/replicas", value: 7 }];
  await w.ask("PATCH", SCALE, operations, { contentType: "application/json-patch+json" });
  assert.equal(await wanted(), 7);
  const apply = { contentType: "application/apply-patch+yaml" };
  const conflict = await w.refused("PATCH", SCALE, scale(8), { ...apply, query: { fieldManager: "m" } });
  assert.deepEqual([conflict.code, conflict.reason], [409, "Conflict"]);
  await w.ask("PATCH", SCALE, scale(8), { ...apply, query: { fieldManager: "m", force: "true" } });
  assert.equal(await wanted(), 8);
  const { managedFields } = (await w.ask("GET", `${DEPLOYMENTS}/a`)).metadata;
  const owner = (managedFields as { manager: string; fieldsV1: object }[]).find(({ manager }) => manager === "m");
  assert.match(JSON.stringify(owner), /"operation":"Apply".*"f:replicas"/);
  await w.ask("PUT", OF_WIDGET, scale(0));
  assert.equal(((await w.ask("GET", `${WIDGETS}/a`)) as unknown as { spec: { count: number } }).spec.count, 0);
});

test("a Scale of another object, another version or another kind is refused, and so are replicas that are none", async (t) => {
  const w = await started(t);
  const refused = async (body: unknown, method: "PUT" | "PATCH" = "PUT") => {
    const { code, message } = await w.refused(method, SCALE, body, {
      contentType: method === "PUT" ? "application/json" : "application/merge-patch+json",
    });
    return [code, message];
  };
  assert.deepEqual(await refused({ ...scale(1), metadata: { name: "b" } }), [
    ...[400, "the name of the object (b) does not match the name on the URL (a)"],
  ]);
  const { resourceVersion } = (await w.ask("GET", SCALE)).metadata;
  await w.ask("PUT", SCALE, scale(1, { resourceVersion }));
  assert.equal((await refused(scale(2, { resourceVersion })))[0], 409);
  assert.deepEqual(await refused(scale(-1)), [
    ...[422, 'Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  ]);
  assert.equal((await refused({ spec: { replicas: -2 } }, "PATCH"))[0], 422);
  assert.deepEqual(await refused({ ...scale(1), kind: "Eviction" }), [
    ...[
      400,
      'Eviction in version "v1" cannot be handled as a Scale: converting (v1.Eviction) to (autoscaling.Scale): unknown conversion',
    ],
  ]);
  assert.match(
    String((await refused(scale("x")))[1]),
    /^Scale in version "v1" cannot be handled as a Scale: .*replicas/,
  );
  assert.equal((await w.refused("GET", `${DEPLOYMENTS}/none/scale`)).code, 404);
});
