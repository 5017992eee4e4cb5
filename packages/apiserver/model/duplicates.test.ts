import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import fc from "fast-check";
import { createApiServer } from "../server.ts";
import { CONFIG_MAPS } from "../testing.ts";
import { duplicateFields, strangeFields } from "./duplicates.ts";

test("a field that is stated twice is reported once, by path", () => {
  const text = '{"a":1,"b":[{"c":"\\\\"},{"c":"}\\"{","c":2,"c":3}],"a":{"a":[]},"\\u0061":0}';
  assert.deepEqual(duplicateFields(text), ["b[1].c", "a"]);
});

test("one that stands twice in each of two values of one field has one path, and is reported once", () => {
  assert.deepEqual(duplicateFields('{"x":[{"a":1,"a":2}],"x":[{"a":3,"a":4}]}'), ["x[0].a", "x"]);
});

test("of a built-in kind, what is unknown and what stands twice is reported in the order of the text", () => {
  const text = '{"spec":{"strange":1,"replicas":1,"replicas":2,"list":[{"odd":{"replicas":1}}]}}';
  const unknown = [
    ["spec", "list", 0, "odd"],
    ["spec", "strange"],
  ];
  assert.deepEqual(strangeFields(text, unknown), [
    'unknown field "spec.strange"',
    'duplicate field "spec.replicas"',
    'unknown field "spec.list[0].odd"',
  ]);
});

test("no text that came from a value has duplicates, one with an object's first field repeated has", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), fc.nat(3), (value, key, indent) => {
      const text = JSON.stringify(value, null, indent);
      assert.deepEqual(duplicateFields(text), []);
      const name = JSON.stringify(key);
      assert.deepEqual(duplicateFields(`[{${name}:${text},"x${name.slice(1)}:1,${name}:${text}}]`), [`[0].${key}`]);
    }),
  );
});

test("Strict refuses a field that is stated twice, Warn warns of it", async (t) => {
  const tokens = { t: { name: "admin", groups: ["system:masters"] } };
  const server = await createApiServer({ clock: systemClock, random: cryptoRandom, log: quietLog, tokens });
  t.after(() => server.close());
  const post = (fieldValidation: string) =>
    server.handle({
      method: "POST",
      path: CONFIG_MAPS,
      query: new URLSearchParams({ fieldValidation }),
      headers: { authorization: "Bearer t", "content-type": "application/json" },
      body: `{"metadata":{"generateName":"a"},"data":{"x":"1","x":"2"}}`,
    });
  const strict = await post("Strict");
  assert.equal(strict.status, 400);
  const { message } = (strict as { body: { message: string } }).body;
  assert.match(message, /strict decoding error: duplicate field "data.x"$/);
  assert.equal((await post("Warn")).headers.warning, '299 - "duplicate field \\"data.x\\""');
  assert.equal((await post("Ignore")).headers.warning, undefined);
});
