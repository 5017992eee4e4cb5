import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body } from "../model/served.ts";
import { trackUpdate } from "./managed-fields.ts";
import { validateManagedFields } from "./managers.ts";
import { applied, body, owners, schema, updated } from "./ownership-example.ts";

test("an update owns what it set, and parents that came with it", () => {
  const object = updated(undefined, { replicas: 1, labels: { a: "1" }, ports: [{ port: 80 }] }, "editor");
  assert.deepEqual(owners(object), {
    "editor Update": {
      ".": {},
      "f:replicas": {},
      "f:labels": { ".": {}, "f:a": {} },
      "f:ports": { ".": {}, 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } },
    },
  });
});

test("an update takes over the fields it changes and leaves the others", () => {
  const first = updated(undefined, { replicas: 1, color: "red" }, "a");
  const second = updated(first, { replicas: 2, color: "red" }, "b");
  assert.deepEqual(owners(second), {
    "a Update": { ".": {}, "f:color": {} },
    "b Update": { "f:replicas": {} },
  });
});

test("nobody owns a removed field, and an owner without fields vanishes", () => {
  const first = updated(undefined, { replicas: 1 }, "a");
  const second = updated(first, { replicas: 1, color: "red" }, "b");
  const third = updated(second, { replicas: 1 }, "c");
  assert.deepEqual(owners(third), { "a Update": { ".": {}, "f:replicas": {} } });
});

test("an update that changes nothing keeps every entry, times included", () => {
  const first = updated(undefined, { replicas: 1 }, "a", "2024-01-01T00:00:00Z");
  const second = updated(first, { replicas: 1 }, "a", "2024-02-01T00:00:00Z");
  assert.deepEqual(second.metadata.managedFields, first.metadata.managedFields);
});

test("an update of an applied field ends the applier's ownership", () => {
  const first = applied(undefined, { replicas: 1, color: "red" }, "applier");
  const second = updated(first, { replicas: 2, color: "red" }, "editor");
  assert.deepEqual(owners(second), { "applier Apply": { "f:color": {} }, "editor Update": { "f:replicas": {} } });
});

test("what the server owns is nobody's", () => {
  const after = body({}, { uid: "u", labels: { a: "1" }, generation: 1, creationTimestamp: "2024-01-01T00:00:00Z" });
  const [entry] = trackUpdate({
    before: undefined,
    after,
    manager: "m",
    subresource: "",
    apiVersion: "v1",
    time: "t",
    schema,
  }) as [{ fieldsV1: unknown }];
  assert.deepEqual(entry.fieldsV1, { "f:metadata": { "f:labels": { ".": {}, "f:a": {} } }, "f:spec": {} });
});

test("entries are sorted: appliers first, then by time", () => {
  let object: Body = updated(undefined, { replicas: 1 }, "z", "2024-01-01T00:00:00Z");
  object = updated(object, { replicas: 1, color: "red" }, "a", "2024-01-03T00:00:00Z");
  object = applied(object, { list: ["x"] }, "m", { time: "2024-01-04T00:00:00Z" });
  assert.deepEqual(Object.keys(owners(object)), ["m Apply", "z Update", "a Update"]);
});

test("a writer may edit managedFields, but not through a subresource", () => {
  const first = updated(undefined, { replicas: 1 }, "a");
  const sent = {
    ...first,
    metadata: { ...first.metadata, managedFields: [{ ...(first.metadata.managedFields![0] as object), manager: "b" }] },
  };
  const track = (subresource: string) =>
    trackUpdate({ before: first, after: sent, manager: "c", subresource, apiVersion: "v1", time: "t", schema }) as {
      manager: string;
    }[];
  assert.deepEqual(
    track("").map((e) => e.manager),
    ["b"],
  );
  assert.deepEqual(
    track("status").map((e) => e.manager),
    ["a"],
  );
});

test("an empty list and one empty entry reset managedFields; nonsense and absence keep them", () => {
  const first = updated(undefined, { replicas: 1 }, "a");
  const entriesAfter = (managedFields: unknown[] | undefined) => {
    const { managedFields: _old, ...metadata } = first.metadata;
    const after = {
      ...first,
      metadata: managedFields === undefined ? metadata : { ...metadata, managedFields },
    } as Body;
    return trackUpdate({ before: first, after, manager: "a", subresource: "", apiVersion: "v1", time: "t", schema })
      .length;
  };
  assert.equal(entriesAfter([]), 0);
  assert.equal(entriesAfter([{}]), 0);
  assert.equal(entriesAfter([{ operation: "Guess" }]), 1);
  assert.equal(entriesAfter(undefined), 1);
});

test("after a reset updates are not tracked, until an apply attributes everything to before-first-apply", () => {
  const untracked = body({ replicas: 1 }, { uid: "u" });
  const second = updated(untracked, { replicas: 2 }, "a");
  assert.equal(second.metadata.managedFields, undefined);
  const third = applied(second, { color: "red" }, "m");
  assert.deepEqual(owners(third), {
    "m Apply": { "f:color": {} },
    "before-first-apply Update": { ".": {}, "f:replicas": {} },
  });
});

test("many updaters are collected: at most ten entries stay, and no ownership is lost", () => {
  let object: Body | undefined;
  for (let i = 0; i < 20; i++) {
    const labels = Object.fromEntries(Array.from({ length: i + 1 }, (_, n) => [`l${n}`, "x"]));
    object = updated(object, { labels }, `m${i}`, `2024-01-01T00:00:${String(i).padStart(2, "0")}Z`);
  }
  const held = owners(object!);
  assert.equal(Object.keys(held).length, 10);
  assert.ok("ancient-changes Update" in held);
  const names = Object.values(held).flatMap((spec) => Object.keys((spec as { "f:labels": object })["f:labels"]));
  assert.equal(new Set(names.filter((name) => name !== ".")).size, 20);
});

test("managedFields that a writer sends are checked where they can be read", () => {
  const entry = { operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", manager: "m".repeat(129) };
  assert.deepEqual(
    validateManagedFields([entry]).map((e) => e.field),
    ["metadata.managedFields[0].manager"],
  );
  for (const wrong of [{ operation: "Guess" }, { apiVersion: "" }, { fieldsType: "FieldsV2" }])
    assert.deepEqual(validateManagedFields([{ ...entry, ...wrong }]), []);
});
