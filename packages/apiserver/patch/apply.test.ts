import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault, sameJson } from "@slipway/base";
import fc from "fast-check";
import type { PatchRefusal } from "../json/members.ts";
import { allPasses } from "../json/turns.ts";
import type { Body } from "../model/served.ts";
import { fieldsOf } from "./applied-fields.ts";
import { applyConfiguration } from "./apply.ts";
import { difference, type FieldSet, isEmptySet, NO_FIELDS, union } from "./field-set.ts";
import { fromFieldsV1 } from "./fields-v1.ts";
import { mergeTyped } from "./merge-typed.ts";
import { applied, body, owners, type Spec, schema, updated } from "./ownership-example.ts";
import { Untyped } from "./typed-errors.ts";

test("an apply of what does not exist creates it and owns each field stated", () => {
  const object = applied(undefined, { replicas: 1, labels: { a: "1" }, set: ["s"], whole: { x: "1" } }, "m");
  assert.deepEqual(object.spec, { replicas: 1, labels: { a: "1" }, set: ["s"], whole: { x: "1" } });
  assert.deepEqual(owners(object), {
    "m Apply": { "f:replicas": {}, "f:labels": { "f:a": {} }, "f:set": { 'v:"s"': {} }, "f:whole": {} },
  });
});

const MERGES: [rule: string, live: Spec, config: Spec, result: Spec][] = [
  ["maps merge", { labels: { a: "1" } }, { labels: { b: "1" } }, { labels: { a: "1", b: "1" } }],
  ["atomic maps are replaced", { whole: { a: "1" } }, { whole: { b: "1" } }, { whole: { b: "1" } }],
  ["lists are replaced", { list: ["a"] }, { list: ["b"] }, { list: ["b"] }],
  ["sets unite", { set: ["a", "b"] }, { set: ["b", "c"] }, { set: ["a", "b", "c"] }],
  [
    "list items merge by their keys, defaults included",
    { ports: [{ port: 1, protocol: "TCP", name: "x" }] },
    { ports: [{ port: 1 }, { port: 2 }] },
    { ports: [{ port: 1, protocol: "TCP", name: "x" }, { port: 2 }] },
  ],
  [
    "the configuration orders its items",
    { ports: [{ port: 1 }, { port: 2 }, { port: 3 }] },
    { ports: [{ port: 3 }, { port: 1 }] },
    { ports: [{ port: 2 }, { port: 3 }, { port: 1 }] },
  ],
  ["sets keep live items in their place", { set: ["b", "c", "a"] }, { set: ["a", "b"] }, { set: ["c", "a", "b"] }],
  [
    "fields without schema merge as maps",
    { free: { a: { x: 1 } } },
    { free: { a: { y: 2 } } },
    { free: { a: { x: 1, y: 2 } } },
  ],
];

for (const [rule, live, config, result] of MERGES) {
  test(`apply merges: ${rule}`, () => {
    const object = applied(updated(undefined, live, "editor"), config, "m", { force: true });
    assert.deepEqual(object.spec, result);
  });
}

test("an applier that states nothing any more is no owner", () => {
  const live = applied(undefined, { replicas: 1 }, "m");
  const { spec: _, ...config } = body({});
  const more = { manager: "m", force: false, subresource: "", apiVersion: "example.org/v1", time: "", schema };
  const { object } = applyConfiguration({ live, config: config as Body, ...more });
  assert.equal(object.metadata.managedFields, undefined);
});

test("what an applier states no more is removed; what others own stays", () => {
  const first = applied(
    undefined,
    { replicas: 1, labels: { a: "1", b: "1" }, set: ["x", "y"], ports: [{ port: 1 }, { port: 2 }] },
    "a",
  );
  const shared = applied(first, { labels: { b: "1" }, set: ["y"], ports: [{ port: 2 }] }, "b");
  const less = applied(shared, { color: "red" }, "a");
  assert.deepEqual(less.spec, { labels: { b: "1" }, set: ["y"], ports: [{ port: 2 }], color: "red" });
  const nothing = applied(less, {}, "b");
  assert.deepEqual(nothing.spec, { color: "red" });
});

test("what the configuration states as empty becomes null when its items go, a list vanishes with them", () => {
  const first = applied(undefined, { labels: { a: "1" }, ports: [{ port: 1 }] }, "m");
  assert.deepEqual(applied(first, { labels: {}, ports: [] }, "m").spec, { labels: null });
});

test("what an update set stays when an applier that never had it applies", () => {
  const live = updated(applied(undefined, { labels: { a: "1" } }, "m"), { labels: { a: "1", b: "2" } }, "editor");
  assert.deepEqual(applied(live, { labels: {} }, "m").spec, { labels: { b: "2" } });
});

test("a field that someone else owns and a configuration would change is a conflict that names both", () => {
  const live = updated(undefined, { replicas: 1 }, "kubectl-client-side-apply");
  assert.throws(
    () => applied(live, { replicas: 2 }, "m"),
    (error) => {
      assert.ok(isFault(error, "Conflict"));
      assert.deepEqual(error.details, {
        message:
          'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using example.org/v1: .spec.replicas',
        causes: [
          {
            reason: "FieldManagerConflict",
            message: 'conflict with "kubectl-client-side-apply" using example.org/v1',
            field: ".spec.replicas",
          },
        ],
      } satisfies PatchRefusal);
      return true;
    },
  );
});

test("several conflicts are listed by owner", () => {
  const live = applied(updated(undefined, { replicas: 1, color: "red" }, "z"), { list: ["x"] }, "a");
  assert.throws(
    () => applied(live, { replicas: 2, color: "blue", list: [] }, "m"),
    (error) =>
      isFault(error, "Conflict") &&
      (error.details as PatchRefusal).message ===
        'Apply failed with 3 conflicts: conflicts with "a":\n- .spec.list\nconflicts with "z" using example.org/v1:\n- .spec.color\n- .spec.replicas',
  );
});

test("force takes a field over", () => {
  const object = applied(updated(undefined, { replicas: 1, color: "red" }, "editor"), { replicas: 2 }, "m", {
    force: true,
  });
  assert.deepEqual(owners(object), { "m Apply": { "f:replicas": {} }, "editor Update": { ".": {}, "f:color": {} } });
});

test("equal values are owned together, without conflict", () => {
  const object = applied(applied(undefined, { replicas: 1 }, "a"), { replicas: 1 }, "b");
  assert.deepEqual(owners(object), { "a Apply": { "f:replicas": {} }, "b Apply": { "f:replicas": {} } });
});

test("a configuration that does not fit the schema is refused with the field", () => {
  const title = "failed to create typed patch object (/x; example.org/v1, Kind=Example): ";
  for (const [spec, why] of [
    [{ colour: "red" }, ".spec.colour: field not declared in schema"],
    [{ color: 1 }, ".spec.color: expected string, got &value.valueUnstructured{Value:1}"],
    [{ replicas: "1" }, ".spec.replicas: expected numeric (int or float), got string"],
    [{ labels: [1] }, ".spec.labels: expected map, got &{[1]}"],
    [{ list: { a: 1 } }, ".spec.list: expected list, got &{map[a:1]}"],
    [{ ports: ["x"] }, ".spec.ports: element 0: associative list with keys may not have non-map elements"],
    [{ set: ["a", "a"] }, '.spec.set: duplicate entries for key [="a"]'],
    [{ ports: [{ port: 1 }, { port: 1 }] }, '.spec.ports: duplicate entries for key [port=1,protocol="TCP"]'],
    [{ color: 1, replicas: "1" }, "errors:\n  .spec.color: expected string"],
  ] as const)
    assert.throws(
      () => applied(undefined, spec, "m"),
      (error) => error instanceof Untyped && error.message.startsWith(title + why),
    );
});

test("kubectl's server-side apply takes over what its client-side apply set and nobody changed", () => {
  const annotation = "kubectl.kubernetes.io/last-applied-configuration";
  const last = JSON.stringify(body({ replicas: 1, color: "red" }));
  const live = body({ replicas: 5, color: "red" }, { uid: "u", annotations: { [annotation]: last } });
  const tracked = updated(undefined, { replicas: 5, color: "red" }, "kubectl-client-side-apply");
  const stored: Body = { ...live, metadata: { ...live.metadata, managedFields: tracked.metadata.managedFields! } };

  const object = applied(stored, { color: "blue" }, "kubectl");
  assert.equal((object.spec as Spec).color, "blue");
  const config: unknown = JSON.parse(object.metadata.annotations![annotation]!);
  assert.deepEqual(config, body({ color: "blue" }));

  assert.throws(
    () => applied(stored, { replicas: 2 }, "kubectl"),
    (error) => isFault(error, "Conflict"),
  );
});

const name = fc.constantFrom("a", "b", "c");
const labels = fc.dictionary(name, fc.constantFrom("1", "2"), { noNullPrototype: true });
const port = fc
  .record({ port: fc.constantFrom(1, 2, 3), name: fc.option(name, { nil: undefined }) })
  .map((p) => JSON.parse(JSON.stringify(p)));
const spec = fc
  .record(
    {
      replicas: fc.constantFrom(1, 2),
      labels,
      whole: labels,
      list: fc.array(name, { maxLength: 3 }),
      set: fc.uniqueArray(name),
      ports: fc.uniqueArray(port, { selector: (p) => p.port }),
      free: fc.dictionary(name, labels, { noNullPrototype: true }),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .map((s) => s as Spec);
const write = fc.record({ by: fc.constantFrom("a", "b", "c"), how: fc.constantFrom("apply", "update"), spec });

function replay(writes: { by: string; how: string; spec: Spec }[]): Body | undefined {
  let object: Body | undefined;
  for (const w of writes) {
    object = w.how === "apply" ? applied(object, w.spec, w.by, { force: true }) : updated(object, w.spec, w.by);
  }
  return object;
}

test("after any history, applying twice is applying once, times included", () => {
  fc.assert(
    fc.property(fc.array(write, { maxLength: 4 }), spec, (history, config) => {
      // Who applies nothing but empty lists owns nothing, and the object has no owners.
      fc.pre(!Object.values(config).some(isEmptyList));
      const once = applied(replay(history), config, "a", { force: true, time: "2024-01-01T00:00:00Z" });
      // What the first apply emptied is null after it, and as the configuration has it after the second, as upstream has it.
      fc.pre(!JSON.stringify(once).includes("null"));
      const twice = applied(once, config, "a", { time: "2025-01-01T00:00:00Z" });
      assert.deepEqual(twice, once);
    }),
  );
});

test("after any history, an applied configuration is in the object and wholly owned by its applier", () => {
  fc.assert(
    fc.property(fc.array(write, { maxLength: 4 }), spec, (history, config) => {
      const object = applied(replay(history), config, "m", { force: true });
      const stated = allPasses(fieldsOf({ spec: config }, schema));
      let owned: FieldSet = NO_FIELDS;
      for (const entry of (object.metadata.managedFields ?? []) as { manager: string; fieldsV1: unknown }[]) {
        if (entry.manager === "m") owned = union(owned, fromFieldsV1(entry.fieldsV1));
      }
      assert.ok(isEmptySet(difference(stated, owned)));
      assert.ok(sameJson(allPasses(mergeTyped(object.spec, config, schema.properties?.spec)), object.spec));
    }),
  );
});

/** Upstream, too, an empty list of owned items is owned by nobody. */
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

test("whoever applies and then applies nothing leaves no trace of fields that nobody else owns", () => {
  fc.assert(
    fc.property(spec, spec, (base, config) => {
      const before = updated(undefined, base, "editor");
      const unclaimed = Object.fromEntries(
        Object.entries(config).filter(([key, value]) => !(key in base) && !isEmptyList(value)),
      );
      const after = applied(applied(before, unclaimed, "m"), {}, "m");
      assert.deepEqual(after.spec, before.spec);
      const { "m Apply": own, ...others } = owners(after);
      assert.deepEqual([own, others], [{}, owners(before)]);
    }),
  );
});
