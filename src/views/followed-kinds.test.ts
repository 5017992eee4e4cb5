import assert from "node:assert/strict";
import { test } from "node:test";
import { SYSTEMS } from "../operator/systems.ts";
import { FOLLOWED, followedByName, followedKindOf } from "./followed-kinds.ts";
import { ROLES } from "./row.ts";

test("the kinds that the console follows are the systems', with the roles that the systems give them", () => {
  const shown = SYSTEMS.flatMap(({ shows = {} }) =>
    ROLES.flatMap((role) => (shows[role] ?? []).map(({ group, plural, kind }) => ({ role, group, plural, kind }))),
  );
  for (const { role, group, plural, kind } of shown) {
    const { name: _, ...followed } = followedByName(`${plural}.${group}`)!;
    assert.deepEqual(followed, { role, group, plural, kind });
  }
  assert.equal(FOLLOWED.filter(({ role }) => role !== undefined).length, new Set(shown.map(({ kind }) => kind)).size);
  const known = new Set(
    SYSTEMS.flatMap(({ kinds }) => kinds.flat()).map(({ group, plural, kind }) => `${group} ${plural} ${kind}`),
  );
  for (const { group, plural, kind } of FOLLOWED.filter((one) => one.group !== ""))
    assert.ok(known.has(`${group} ${plural} ${kind}`), `${plural}.${group}: no system has it`);
});

test("an object's kind is found whatever its version", () => {
  assert.equal(
    followedKindOf({ apiVersion: "cluster.x-k8s.io/v1beta1", kind: "Machine" })?.name,
    "machines.cluster.x-k8s.io",
  );
  assert.equal(followedKindOf({ apiVersion: "v1", kind: "Node" })?.name, "nodes");
  assert.equal(followedKindOf({ apiVersion: "example.dev/v1", kind: "Machine" }), undefined);
});
