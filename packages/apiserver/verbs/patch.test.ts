/** PATCH as clients meet it: what each kind of patch takes, and how the others are refused. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Body } from "../model/served.ts";
import { CONFIG_MAPS, DEFINITIONS, WIDGET, WIDGETS, type World, widgets, world } from "../testing.ts";

const [JSON_PATCH, MERGE, STRATEGIC] = ["json-patch", "merge-patch", "strategic-merge-patch"].map(
  (name) => `application/${name}+json`,
) as [string, string, string];
const MAP = `${CONFIG_MAPS}/a`;
const WIDGET_A = `${WIDGETS}/a`;

/** A server with a ConfigMap and a widget. */
async function started(t: TestContext): Promise<World> {
  const w = await world();
  t.after(() => w.close());
  await w.ask("POST", CONFIG_MAPS, { metadata: { name: "a" }, data: { x: "1", y: "2" } });
  await w.ask("POST", DEFINITIONS, widgets);
  await w.clock.settle();
  await w.ask("POST", WIDGETS, { ...WIDGET, metadata: { name: "a" }, spec: { count: 1 } });
  return w;
}

const said = async (w: World, path: string, contentType: string, body: unknown) => {
  const { code, reason, message } = await w.refused("PATCH", path, body, { contentType });
  return [code, reason, message];
};

test("each kind of patch changes what it names, and nothing else", async (t) => {
  const w = await started(t);
  const data = async (contentType: string, body: unknown) =>
    (await w.ask("PATCH", MAP, body, { contentType })).data as Record<string, string>;
  assert.deepEqual(await data(MERGE, { data: { x: null, z: "3" } }), { y: "2", z: "3" });
  assert.deepEqual(await data(STRATEGIC, { data: { y: "4" } }), { y: "4", z: "3" });
  assert.deepEqual(await data(JSON_PATCH, [{ op: "move", from: "/data/z", path: "/data/q" }]), { q: "3", y: "4" });
  assert.deepEqual(await data(JSON_PATCH, null), { q: "3", y: "4" }, "no operations");
});

test("what is no patch of its kind is refused as Go's decoder does", async (t) => {
  const w = await started(t);
  const map = "Go value of type map[string]interface {}";
  const into = (is: string, type: string) => `error decoding patch: json: cannot unmarshal ${is} into ${type}`;
  for (const [contentType, body, message] of [
    [MERGE, null, "Invalid JSON Patch"],
    [MERGE, [], into("array", map)],
    [MERGE, true, into("bool", map)],
    [MERGE, '"x"', into("string", map)],
    [JSON_PATCH, {}, into("object", "Go value of type []handlers.jsonPatchOp")],
    [JSON_PATCH, [7], into("number", "Go value of type handlers.jsonPatchOp")],
    [STRATEGIC, [], `json: cannot unmarshal array into ${map}`],
  ] as const)
    assert.deepEqual(await said(w, MAP, contentType, body), [400, "BadRequest", message], JSON.stringify(body));
});

test("a JSON patch that can't be carried out is invalid, and one of more than 10,000 operations too large", async (t) => {
  const w = await started(t);
  const failed = "the server rejected our request due to an error in our request";
  for (const operation of [{ op: "test", path: "/data/x", value: "other" }, { op: "remove", path: "/data/none" }, null])
    assert.deepEqual(await said(w, MAP, JSON_PATCH, [operation]), [422, "Invalid", failed], JSON.stringify(operation));
  const operation = { op: "add", path: "/data/x", value: "1" };
  const most = Array(10_000).fill(operation);
  assert.ok(await w.ask("PATCH", MAP, most, { contentType: JSON_PATCH }));
  assert.deepEqual(await said(w, MAP, JSON_PATCH, [...most, operation]), [
    ...[413, "RequestEntityTooLarge"],
    "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
  ]);
});

test("a type of patch that the kind does not take is refused with those that it takes", async (t) => {
  const w = await started(t);
  const accepted = async (path: string, contentType: string) => {
    const { status, body } = await w.send({ method: "PATCH", path, body: {}, contentType });
    return [status, (body as { message?: string }).message ?? body];
  };
  assert.deepEqual(await accepted(MAP, "text/plain"), [415, "415: Unsupported Media Type"]);
  assert.deepEqual(await accepted(WIDGET_A, STRATEGIC), [
    415,
    `the body of the request was in an unknown format - accepted media types include: ${JSON_PATCH}, ${MERGE}, application/apply-patch+yaml`,
  ]);
});

test("fields that nobody knows are warned of, refused, or passed over, as the client asks", async (t) => {
  const w = await started(t);
  const body = { spec: { count: 2, odd: 1 } };
  const send = async (fieldValidation: string) => {
    const query = fieldValidation === "" ? {} : { fieldValidation };
    return w.send({ method: "PATCH", path: WIDGET_A, body, contentType: MERGE, query });
  };
  const unknown = 'unknown field "spec.odd"';
  const strict = (await send("Strict")).body as { message: string };
  assert.ok(strict.message.endsWith(`: strict decoding error: ${unknown}`), strict.message);
  assert.ok(strict.message.includes('\\"odd\\":1'), "the refusal shows what was made of the object");
  for (const [validation, warning] of [
    ["Warn", '299 - "unknown field \\"spec.odd\\""'],
    ["", '299 - "unknown field \\"spec.odd\\""'],
    ["Ignore", undefined],
  ] as const) {
    const answer = await send(validation);
    assert.equal(answer.status, 200, validation);
    assert.equal(answer.headers?.warning, warning, validation);
  }
  const operations = [{ op: "replace", path: "/spec/count", value: 3, extra: 1 }];
  const { message } = await w.refused("PATCH", WIDGET_A, operations, {
    contentType: JSON_PATCH,
    query: { fieldValidation: "Strict" },
  });
  assert.ok(String(message).endsWith('strict decoding error: json patch unknown field "[0].extra"'), String(message));
});

test("a patch that makes an object something that can't be read is invalid, since the patch itself was well", async (t) => {
  const w = await started(t);
  const [code, reason, message] = await said(w, MAP, MERGE, { data: 7 });
  assert.deepEqual([code, reason], [422, "Invalid"]);
  assert.match(String(message), /^ "" is invalid: patch: Invalid value: .*\\"data\\":7.*cannot unmarshal number into /);
  const [, , strategic] = await said(w, MAP, STRATEGIC, { data: 7 });
  assert.match(String(strategic), /patch: Invalid value: /);
  assert.equal(((await w.ask("GET", MAP)) as Body & { data: object }).data !== undefined, true);
});

test("a patch takes the version and kind of an object as little as its name, and one for another version is a conflict", async (t) => {
  const w = await started(t);
  assert.equal(
    (await w.ask("PATCH", MAP, { kind: "Other", data: { x: "9" } }, { contentType: STRATEGIC })).kind,
    "ConfigMap",
  );
  const [code] = await said(w, WIDGET_A, MERGE, { apiVersion: null });
  assert.equal(code, 500);
  const { message } = await w.refused("PATCH", WIDGET_A, { apiVersion: null }, { contentType: MERGE });
  assert.match(message!, /^Internal error occurred: Object 'apiVersion' is missing/);
  assert.equal((await said(w, MAP, MERGE, { metadata: { name: "b" } }))[0], 400);
  const old = (await w.ask("GET", MAP)).metadata.resourceVersion;
  await w.ask("PATCH", MAP, { data: { x: "10" } }, { contentType: MERGE });
  const late = await said(w, MAP, MERGE, { metadata: { resourceVersion: old }, data: { x: "11" } });
  assert.deepEqual(late.slice(0, 2), [409, "Conflict"]);
});

test("a patch that takes the version away is refused for a custom resource, as an update without one is", async (t) => {
  const w = await started(t);
  for (const resourceVersion of [null, "", "0"]) {
    const [code, , message] = await said(w, WIDGET_A, MERGE, { metadata: { resourceVersion } });
    assert.equal(code, 422, String(resourceVersion));
    assert.match(String(message), /metadata\.resourceVersion: Invalid value: .*must be specified for an update$/);
  }
  assert.ok(await w.ask("PATCH", MAP, { metadata: { resourceVersion: null } }, { contentType: MERGE }));
});
