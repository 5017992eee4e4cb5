import assert from "node:assert/strict";
import { test } from "node:test";
import { allPasses, type Passes } from "../json/turns.ts";
import type { Body, FieldError, ServedResource } from "../model/served.ts";
import { configMap, secret } from "./secret.ts";

const judged = (resource: ServedResource, more: object): Passes<FieldError[]> =>
  resource.validate!({ metadata: { name: "a" }, ...more } as Body) as Passes<FieldError[]>;

test("others have their turn while very many keys are judged", () => {
  const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k ${i}`, "v"]));
  for (const [resource, more] of [
    [configMap, { data: members }],
    [configMap, { binaryData: members }],
    [secret, { data: members, type: "Opaque" }],
  ] as const) {
    const passes = judged(resource, more);
    let yields = 0;
    while (passes.next().done !== true) yields++;
    assert.ok(yields >= 3, `${yields} times`);
  }
});

test("a key is refused for each rule that it breaks, in order", () => {
  const long = `..${"a".repeat(252)} `;
  const found = allPasses(judged(configMap, { data: { good: "v", "..": "v", [long]: "v", "..a": "v" } }));
  assert.deepEqual(
    found.map(({ message }) => message.replace(/^.*?: .*?: /, "").split(" (")[0]),
    [
      "must not be '..'",
      "must be no more than 253 characters",
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
      "must not start with '..'",
      "must not start with '..'",
    ],
  );
});

test("what is immutable stays so, with its data and its type", () => {
  const old = { metadata: { name: "a" }, immutable: true, data: { a: "YQ==" }, type: "Opaque" } as unknown as Body;
  const wrong = (resource: ServedResource, more: object): string[] =>
    allPasses(resource.validate!({ ...old, ...more } as Body, old) as Passes<FieldError[]>).map(({ field }) => field);
  assert.deepEqual(wrong(secret, { metadata: { name: "a", labels: { b: "c" } } }), []);
  assert.deepEqual(wrong(secret, { immutable: undefined }), ["immutable"]);
  assert.deepEqual(wrong(secret, { immutable: false }), ["immutable"]);
  assert.deepEqual(wrong(secret, { data: { a: "Yg==" } }), ["data"]);
  assert.deepEqual(wrong(configMap, { data: undefined }), ["data"]);
});
