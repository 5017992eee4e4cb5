import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { allPasses } from "../json/turns.ts";
import { difference, equalSets, type FieldSet, intersection, pathsOf, setOfPaths, union } from "./field-set.ts";
import { fromFieldsV1, fromStoredFieldsV1, toFieldsV1 } from "./fields-v1.ts";
import { keyElement, memberElement, printPath, valueElement } from "./path-element.ts";

const element = fc.oneof(
  fc.string().map(memberElement),
  fc
    .dictionary(fc.string(), fc.oneof(fc.string(), fc.integer()), { minKeys: 1, noNullPrototype: true })
    .map(keyElement),
  fc.oneof(fc.string(), fc.integer(), fc.boolean()).map(valueElement),
  fc.nat().map((n) => `i:${n}`),
);
const fieldSet = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 }).map(setOfPaths);

test("FieldsV1: what is written is read back", () => {
  fc.assert(
    fc.property(fieldSet, (set) => {
      const json: unknown = JSON.parse(JSON.stringify(allPasses(toFieldsV1(set))));
      assert.deepEqual([...pathsOf(fromFieldsV1(json))], [...pathsOf(set)]);
    }),
  );
});

test("FieldsV1: equal parts are one object that can't be changed, and are read once; large ones are each their own", () => {
  const written = (...names: string[]) =>
    allPasses(toFieldsV1(setOfPaths(names.map((name) => ["f:spec", `f:${name}`]))));
  const [one, same, other] = [written("a", "b"), written("a", "b"), written("a", "c")];
  assert.equal(one, same);
  assert.notEqual(one, other);
  assert.ok(Object.isFrozen(one["f:spec"]));
  assert.equal(fromStoredFieldsV1(one), fromStoredFieldsV1(same));
  const many = Array.from({ length: 100 }, (_, i) => `n${i}`);
  assert.notEqual(written(...many), written(...many));
  assert.deepEqual(written(...many), written(...many));
});

test("FieldsV1: a path that is owned and has owned parts says so with a dot", () => {
  const item = keyElement({ name: "a" });
  const set = setOfPaths([
    ["f:spec", item],
    ["f:spec", item, "f:image"],
    ["f:spec", "f:replicas"],
  ]);
  assert.deepEqual(allPasses(toFieldsV1(set)), {
    "f:spec": { "f:replicas": {}, 'k:{"name":"a"}': { ".": {}, "f:image": {} } },
  });
});

test("FieldsV1: keys are read in any order and spacing", () => {
  const read = fromFieldsV1({ 'k:{"protocol": "TCP", "containerPort":80}': {} });
  assert.deepEqual([...pathsOf(read)], [[keyElement({ containerPort: 80, protocol: "TCP" })]]);
});

test("FieldsV1: what is none is refused with its place", () => {
  for (const [json, why] of [
    [{ "f:a": { spec: {} } }, /fieldsV1\.f:a: "spec" is no path element/],
    [{ "k:{": {} }, /"k:\{" is no path element/],
    [{ "i:x": {} }, /"i:x" is no path element/],
    [{ "f:a": 1 }, /fieldsV1\.f:a: must be an object/],
    [[], /fieldsV1: must be an object/],
  ] as const) {
    assert.throws(
      () => fromFieldsV1(json),
      (error) => isFault(error, "BadRequest") && why.test(error.message),
    );
  }
});

test("field sets: union, difference and intersection go path by path", () => {
  const texts = (set: FieldSet) => [...pathsOf(set)].map((path) => JSON.stringify(path));
  fc.assert(
    fc.property(fieldSet, fieldSet, (a, b) => {
      const [inA, inB] = [texts(a), texts(b)];
      const sorted = (list: string[]) => [...new Set(list)].sort();
      assert.deepEqual(sorted(texts(union(a, b))), sorted([...inA, ...inB]));
      assert.deepEqual(sorted(texts(difference(a, b))), sorted(inA.filter((path) => !inB.includes(path))));
      assert.deepEqual(sorted(texts(intersection(a, b))), sorted(inA.filter((path) => inB.includes(path))));
      assert.ok(equalSets(union(a, b), union(b, a)));
    }),
  );
});

test("paths are printed as conflicts name them", () => {
  const path = ["f:spec", "f:containers", keyElement({ name: "a", port: 1 }), "f:args", valueElement("x")];
  assert.equal(printPath(path), '.spec.containers[name="a",port=1].args[="x"]');
});

test("field sets that an operation leaves as they are stay the same objects", () => {
  const a = setOfPaths([[memberElement("a")], [memberElement("b"), memberElement("c")]]);
  const inA = setOfPaths([[memberElement("b"), memberElement("c")]]);
  const none = setOfPaths([]);
  const other = setOfPaths([[memberElement("x")]]);
  assert.equal(union(a, inA), a);
  assert.equal(union(inA, a), a);
  assert.equal(union(none, a), a);
  assert.equal(difference(a, other), a);
  assert.equal(difference(a, setOfPaths([[memberElement("b")]])), a);
  assert.deepEqual([...pathsOf(difference(a, inA))], [[memberElement("a")]]);
});

test("what is read of a stored object's owners is written as the same object; what was changed is not", () => {
  const json = allPasses(toFieldsV1(setOfPaths([[memberElement("a")], [memberElement("b"), memberElement("c")]])));
  const set = fromStoredFieldsV1(json);
  assert.equal(allPasses(toFieldsV1(set)), json);
  const less = difference(set, setOfPaths([[memberElement("a")]]));
  assert.deepEqual(allPasses(toFieldsV1(less)), { "f:b": { "f:c": {} } });
  assert.deepEqual(json, { "f:a": {}, "f:b": { "f:c": {} } });
});
