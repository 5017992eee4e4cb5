import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { json } from "@slipway/base";
import { openContract } from "./openapi-checker.ts";

const folder = mkdtempSync(join(tmpdir(), "contract-"));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, "small.yaml");
writeFileSync(
  file,
  `
openapi: 3.0.1
paths:
  /things:
    post:
      parameters: [{name: dry, in: query, schema: {type: boolean}}, {name: "page[size]", in: query, schema: {type: integer, minimum: 1}}]
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/new"}}}}
      responses: {"201": {content: {application/json: {schema: {$ref: "#/components/schemas/thing"}}}}}
  /things/all: {get: {responses: {"200": {}}}}
  /things/{id}: {get: {parameters: [{$ref: "#/components/parameters/full"}], responses: {"200": {content: {application/json: {schema: {$ref: "#/components/schemas/thing"}}}}}}}
components:
  parameters: {full: {name: full, in: query, required: true, schema: {type: string}}}
  schemas:
    new: {allOf: [{type: object, required: [name], properties: {name: {type: string, maxLength: 5}}}, {type: object, properties: {size: {type: integer}, kind: {type: string, enum: [a, b]}}}]}
    thing: {type: object, required: [id], properties: {id: {type: string}, note: {type: string, nullable: true}, value: {oneOf: [{type: string}, {type: integer}]}, parent: {$ref: "#/components/schemas/thing"}, tags: {type: array, items: {type: string}}}}
`,
);
const contract = openContract(file, "/v1");
const post = (body: unknown, query = "") =>
  contract.request({ method: "POST", url: `https://a.test/v1/things${query}`, body: JSON.stringify(body) });

test("a request that follows the document has no problems", () => {
  assert.deepEqual(post({ name: "abc", size: 1, kind: "a" }, "?dry=true&page%5Bsize%5D=2"), []);
});

test("a path, query or body that is not in the document is reported, each with its place", () => {
  assert.deepEqual(post({ size: 1 }), ["POST /v1/things: body.name: missing"]);
  assert.deepEqual(post({ name: "abcdef" }), ["POST /v1/things: body.name: of size 6"]);
  assert.deepEqual(post({ name: "a", size: 1.5 }), ["POST /v1/things: body.size: not of type integer"]);
  assert.deepEqual(post({ name: "a", kind: "c" }), ['POST /v1/things: body.kind: "c" is not in the enum']);
  assert.deepEqual(post({ name: "a", colour: "c" }), ["POST /v1/things: body.colour: not in the document"]);
  assert.deepEqual(post({ name: null }), ["POST /v1/things: body.name: null"]);
  assert.deepEqual(post({ name: "a" }, "?dry=perhaps"), ["POST /v1/things: query dry: not of type boolean"]);
  assert.deepEqual(post({ name: "a" }, "?page[size]=0"), ["POST /v1/things: query page[size]: 0 is out of bounds"]);
  assert.deepEqual(post({ name: "a" }, "?wet=true"), ["POST /v1/things: query wet: not in the document"]);
  assert.deepEqual(contract.request({ method: "POST", url: "https://a.test/v1/things" }), [
    "POST /v1/things: body: missing",
  ]);
  assert.deepEqual(contract.request({ method: "GET", url: "https://a.test/v1/other" }), [
    "GET /v1/other: not in the document",
  ]);
});

test("a fixed path is preferred to one with a parameter", () => {
  assert.deepEqual(contract.request({ method: "GET", url: "https://a.test/v1/things/all" }), []);
  assert.deepEqual(contract.request({ method: "GET", url: "https://a.test/v1/things/7" }), [
    "GET /v1/things/7: query full: missing",
  ]);
});

test("an answer is held to its schema, circular ones too; what a server adds is its own affair", () => {
  const request = { method: "GET", url: "https://a.test/v1/things/7?full=1" } as const;
  const problems = (body: unknown, status = 200) => contract.answer(request, json(status, body));

  assert.deepEqual(
    problems({ id: "1", note: null, value: 2, extra: true, parent: { id: "2", parent: { id: "3" } } }),
    [],
  );
  assert.deepEqual(problems({ id: "1", parent: { parent: {} } }), [
    "GET /v1/things/7 → 200: body.parent.id: missing",
    "GET /v1/things/7 → 200: body.parent.parent.id: missing",
  ]);
  assert.deepEqual(problems({ id: "1", tags: ["a", 1] }), ["GET /v1/things/7 → 200: body.tags[1]: not of type string"]);
  assert.match(problems({ id: "1", value: true })[0]!, /fits none of the choices/);
  assert.deepEqual(problems({}, 202), ["GET /v1/things/7 → 202: this status is not in the document"]);
  assert.deepEqual(problems({ errors: [] }, 404), []);
});
