import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { OVERRIDES } from "./names.ts";
import { overridePlan, overridesOf, storesOfOverrides, writeOverrides } from "./overrides.ts";

const events = { resource: "/events", dataStore: "b" };
const pods = { resource: "/pods", dataStore: "c" };
const none = { at: [], left: [] };
const marked = (text: string) => ({ metadata: { name: "a", annotations: { [OVERRIDES]: text } } }) as never;

test("what is written on a tenant is read back, and what can't be read is left out", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9.-]{0,8}$/);
  const override = fc.record({ resource: name.map((text) => `${text}/x`), dataStore: name }, { noNullPrototype: true });
  fc.assert(
    fc.property(fc.array(override), fc.array(name), (at, left) => {
      assert.deepEqual(overridesOf(marked(writeOverrides({ at, left }))), { at, left });
    }),
  );
  assert.deepEqual(overridesOf({ metadata: { name: "a" } } as never), none);
  assert.deepEqual(overridesOf(marked("x,,=,/events=,/pods=c=d,/events=b")), { at: [events], left: [] });
  assert.deepEqual(storesOfOverrides(marked("/events=b,/pods=b,=c")), ["b", "c"]);
});

test("a tenant that was never installed may have any; each is written down first", () => {
  const fresh = { isInstalled: false };
  assert.deepEqual(overridePlan([], none, fresh), { do: "use", overrides: [] });
  const record = { at: [events, pods], left: [] };
  assert.deepEqual(overridePlan([events, pods], none, fresh), { do: "announce", record });
  assert.deepEqual(overridePlan([pods, events], record, fresh), { do: "use", overrides: record.at });
  // What may have been made elsewhere is found when the tenant goes.
  assert.deepEqual(overridePlan([events], record, fresh), { do: "announce", record: { at: [events], left: ["c"] } });
  const back = overridePlan([events, pods], { at: [events], left: ["c"] }, fresh);
  assert.deepEqual(back, { do: "announce", record: { at: [events, pods], left: [] } });
});

test("of a tenant that has objects only events may go elsewhere; what would strand others is refused by name", () => {
  const installed = { isInstalled: true };
  assert.deepEqual(overridePlan([events], none, installed), { do: "announce", record: { at: [events], left: [] } });
  assert.deepEqual(overridePlan([], { at: [events], left: [] }, installed), {
    do: "announce",
    record: { at: [], left: ["b"] },
  });
  assert.deepEqual(overridePlan([pods, events], none, installed), {
    do: "use",
    overrides: [],
    because: "objects of /pods are in the tenant's own DataStore and would stay there",
  });
  const moved = overridePlan([{ ...pods, dataStore: "d" }], { at: [pods], left: [] }, installed);
  assert.deepEqual(moved, {
    do: "use",
    overrides: [pods],
    because: "objects of /pods are in DataStore c and would stay there",
  });
});
