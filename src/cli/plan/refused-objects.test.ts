/** What the API says to manifests, by one API for all of them. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type ApiServer, createApiServer } from "@slipway/apiserver";
import { systemClock as clock, Fault, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient, type Transport } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { manifestsOf, plannedObjects } from "./planned-objects.ts";

let api: ApiServer;
let transport: Transport;
before(async () => {
  api = await createApiServer({ clock, random, log });
  transport = api.transport();
});
after(() => api.close());

const plan = (text: string, way: Transport = transport) =>
  plannedObjects(
    { client: createClient(way, { clock, random, log }), transport: way },
    manifestsOf(text, "f"),
    "default",
  );
const configMap = (name: string, rest = "data: {a: b}\n", namespace = "") =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${namespace && `  namespace: ${namespace}\n`}${rest}`;

test("an object that is not there is created, in the namespace that it names or the one that is given; nothing is stored", async () => {
  const { planned, problems } = await plan(configMap("new"));
  assert.deepEqual(problems, []);
  const [{ object, before: was, change, unchecked, path }] = planned as [(typeof planned)[0]];
  assert.deepEqual(
    [object.kind, object.apiVersion, object.metadata.namespace, was, change, unchecked, path],
    ["ConfigMap", "v1", "default", undefined, "create", undefined, "f"],
  );
  const named = await plan(configMap("new", undefined, "kube-system"));
  assert.equal(named.planned[0]!.object.metadata.namespace, "kube-system");
  const client = createClient(transport, { clock, random, log });
  assert.equal(await client.find(ConfigMap, { namespace: "default", name: "new" }), undefined);
});

test("what would become another object is a change, with the one that is there", async () => {
  const client = createClient(transport, { clock, random, log });
  await client.create(ConfigMap, { metadata: { namespace: "default", name: "there" }, data: { a: "old" } });
  const { planned } = await plan(configMap("there"));
  assert.equal(planned[0]!.change, "change");
  const { kind, apiVersion, data } = planned[0]!.before as ConfigMap;
  assert.deepEqual([kind, apiVersion, data], ["ConfigMap", "v1", { a: "old" }]);
});

test("an object of a namespace, or of a kind, that these manifests bring is taken as it stands", async () => {
  const space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: coming}\n";
  const { planned, problems } = await plan(`${space}---\n${configMap("x", undefined, "coming")}`);
  assert.deepEqual(problems, []);
  assert.deepEqual(
    planned.map(({ change, unchecked, before: was }) => [change, unchecked, was]),
    [
      ["create", undefined, undefined],
      ["create", "its namespace is created by these manifests", undefined],
    ],
  );
  const schema = "schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}";
  const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.sea.example}
spec:
  group: sea.example
  scope: Namespaced
  names: {kind: Boat, plural: boats, singular: boat, listKind: BoatList}
  versions: [{name: v1, served: true, storage: true, ${schema}}]
`;
  const boat = "apiVersion: sea.example/v1\nkind: Boat\nmetadata: {name: b}\n";
  const both = await plan(`${definition}---\n${boat}`);
  assert.deepEqual(both.problems, []);
  assert.deepEqual(
    [both.planned[1]!.change, both.planned[1]!.unchecked, both.planned[1]!.object.kind],
    ["create", "its kind is defined by these manifests", "Boat"],
  );
  const alone = await plan(boat);
  assert.deepEqual(alone.planned, []);
  assert.deepEqual(
    alone.problems.map(({ path, line, on, field }) => [path, line, on, field]),
    [["f", 2, "Boat/b", undefined]],
  );
});

test("a refusal has the line of each field that the API names, or of the object", async () => {
  const problems = async (text: string) =>
    (await plan(text)).problems.map(({ line, on, field, message }) => `${line} ${on} ${field}: ${message}`);
  const missing = await problems(configMap("x", undefined, "nowhere"));
  assert.match(missing.join("\n"), /^5 ConfigMap\/nowhere\/x undefined: .*not found/);
  const typed = await problems(configMap("x", "data: {a: b}\nimmutable: maybe\n"));
  assert.match(typed.join("\n"), /^6 ConfigMap\/x immutable: .*expected boolean/);
  const keys = await problems(configMap("x", 'data:\n  ok: a\n  "not/ok": b\n'));
  assert.match(keys.join("\n"), /^7 ConfigMap\/x data\[not\/ok\]: /);
  assert.equal(keys.length, 1);
  const good = await plan(`${configMap("x", 'data: {"not/ok": b}\n')}---\n${configMap("y")}`);
  assert.deepEqual([good.planned.length, good.problems.length], [1, 1]);
});

test("an API that is away, or takes nobody's word, ends the plan", async () => {
  for (const code of ["Unavailable", "LostAnswer", "Timeout", "Unauthorized"] as const) {
    const away = new Fault(code, "api", "away");
    const way = { ...transport, request: () => Promise.reject(away) } as Transport;
    await assert.rejects(plan(configMap("x"), way), away);
  }
});

test("a file without documents has no manifests; each has its own place", () => {
  assert.deepEqual(manifestsOf("", "f"), []);
  const two = manifestsOf(`${configMap("x")}---\n${configMap("y")}`, "f");
  assert.deepEqual(
    two.map(({ object, path, places }) => [object.metadata.name, path, places.line]),
    [
      ["x", "f", 1],
      ["y", "f", 7],
    ],
  );
});
