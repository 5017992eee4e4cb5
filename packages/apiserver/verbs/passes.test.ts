import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "../core/call.ts";
import type { Body } from "../model/served.ts";
import { grown } from "./grown.ts";
import { mergeOwners } from "./object.ts";

const N = 20_000;

test("others have their turn while what a patch made of a large object is copied", () => {
  const data = Object.fromEntries(Array.from({ length: N }, (_, i) => [`k${i}`, "v"]));
  for (const metadata of [{}, { managedFields: [] }]) {
    const owners = "managedFields" in metadata ? metadata.managedFields : undefined;
    const passes = grown({ metadata, data }, owners);
    let yields = 0;
    while (passes.next().done !== true) yields++;
    assert.ok(yields >= 4, `${yields} times`);
  }
});

test("others have their turn while very many owners are compared, and the second of two equal ones goes", async () => {
  const owners = Array.from({ length: N }, (_, i) => ({ apiVersion: "v1", kind: "A", name: "a", uid: `u${i}` }));
  const object = { metadata: { name: "a", ownerReferences: [...owners, owners[7]] } } as unknown as Body;
  const call = { isLong: true, warnings: [] as string[] };
  let isOver = false;
  let turns = 0;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await mergeOwners(call as unknown as Call, object);
  isOver = true;
  assert.deepEqual(object.metadata.ownerReferences, owners);
  assert.match(call.warnings[0]!, /duplicate UID\(s\) observed: u7$/);
  assert.ok(turns >= 10, `${turns} turns`);
});
