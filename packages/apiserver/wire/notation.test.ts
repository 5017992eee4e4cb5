import assert from "node:assert/strict";
import { test } from "node:test";
import sections from "../data/kubernetes-types.json" with { type: "json" };
import type { Struct, WireType } from "./go-type.ts";
import { fieldOf, typeOf } from "./notation.ts";
import { wireTypeOf } from "./wire-types.ts";

const STRUCT: Struct = {
  is: "struct",
  go: "v1.Item",
  name: "Item",
  fullName: "core.Item",
  isObject: false,
  isAtomic: false,
  declared: [],
  fields: new Map(),
};
const type = (text: string): WireType => typeOf(text, "core", () => STRUCT);

test("a field's word says its number, name, type, and how it is demanded, written and merged", () => {
  assert.deepEqual(fieldOf("6:ports!?:[]Item;map(containerPort,protocol);patch=merge,retainKeys@containerPort", type), {
    name: "ports",
    isEmbedded: false,
    type: { is: "list", of: STRUCT, go: "[]v1.Item" },
    number: 6,
    isRequired: true,
    written: "unlessEmpty",
    merging: {
      as: "map",
      keys: ["containerPort", "protocol"],
      strategy: "merge,retainKeys",
      mergeKey: "containerPort",
    },
  });
  const embedded = fieldOf("1:+Item:Item", type);
  assert.deepEqual([embedded.isEmbedded, embedded.name, embedded.type], [true, "Item", STRUCT]);
  assert.equal(fieldOf("8:creationTimestamp~:Time", type).written, "unlessZero");
  assert.deepEqual(fieldOf("3:x-kubernetes-list-type:*string;patch=replace", type).merging, { strategy: "replace" });
});

test("a word that is not in the notation is refused by name", () => {
  assert.throws(() => fieldOf("ports:[]Item", type), /not a field: ports:\[\]Item/);
});

test("types have the names that Go's decoder writes", () => {
  const go = (text: string): string => type(text).go;
  assert.deepEqual(
    ["[]*Item", "{}string", "{ResourceName}Quantity", "<ResourceList>{}string", "$Phase", "$types.UID", "bytes"].map(
      go,
    ),
    [
      "[]*v1.Item",
      "map[string]string",
      "map[v1.ResourceName]resource.Quantity",
      "v1.ResourceList",
      "v1.Phase",
      "types.UID",
      "[]uint8",
    ],
  );
});

test("every struct of the table is read, and no two of its fields have one number", () => {
  const all = Object.entries(sections).flatMap(([section, structs]) =>
    Object.keys(structs).map((name) => wireTypeOf(section, name)!),
  );
  assert.ok(all.length > 300);
  for (const { fullName, declared, fields } of all) {
    const numbers = declared.map(({ number }) => number);
    assert.equal(new Set(numbers).size, numbers.length, fullName);
    assert.ok(fields.size >= declared.filter(({ isEmbedded }) => !isEmbedded).length, fullName);
  }
});
