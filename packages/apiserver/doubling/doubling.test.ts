import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_GROWTH } from "@slipway/base/testing";
import { world } from "../testing.ts";
import { ALL_DOUBLINGS } from "./all.ts";
import { type Doubling, growthOf } from "./doubling.ts";

/** What was seen to stop the server for seconds and minutes. `test/attack/doubling.test.ts` tries everything. */
const SEEN = [
  "unknown keys of a built-in kind, Warn",
  "unknown keys of a custom kind, Warn",
  "keys that stand twice, deep down below a key of great length",
  "brackets",
  "the digits of a quantity",
  "YAML anchors of scalars",
  "YAML documents",
  "equal owners",
  "verbs, groups, resources and names of a rule that the sender holds but for one verb",
  "items of one key",
  "values that stand twice in a set",
  "items of the wrong type below a key of great length",
  "values deleted by a strategic merge patch",
  "items of a strategic merge patch",
  "insertions at the front of a list by a JSON patch",
  "keys of an apply",
  "managed fields of an update",
  "brackets of JSON in protobuf",
  "conflicts of an apply below a key of great length",
];

for (const name of SEEN)
  test(`twice as many cost no more than 2.5 times the work: ${name}`, async () => {
    const doubling = ALL_DOUBLINGS.find((one) => one.name === name);
    assert.ok(doubling !== undefined);
    const { growth, n, ms } = await growthOf(doubling);
    assert.ok(growth <= MAX_GROWTH, `${2 * n} cost ${growth.toFixed(2)} times as much as ${n}: ${ms.toFixed(0)} ms`);
  });

test("a case whose work can't be measured ends with its name", async () => {
  const get = { method: "GET", path: "/api/v1/namespaces/default/configmaps" } as const;
  await assert.rejects(growthOf({ name: "nothing", n: 1, request: () => get, status: 200 }), /^Error: nothing: /);
  const tooMany = { ...get, method: "POST", body: `[${"1,".repeat(60_000)}1]` } as const;
  await assert.rejects(growthOf({ name: "too many", n: 1, request: () => tooMany, status: 201 }), /^Error: too many: /);
});

async function statusOf(doubling: Doubling, n: number): Promise<number> {
  const w = await world(doubling.webhooks && { webhooks: doubling.webhooks(n) });
  const sender = w.server.transport(doubling.as);
  for (const request of doubling.given?.(n) ?? []) await w.send(request);
  const { status } = await sender.request(doubling.request(n, 0));
  await sender.close();
  await w.close();
  return status;
}

/** So many are neither too large nor too deep for anything. */
const FEW = 3;

test("each case is answered as it says: few of its inputs, or as many as it begins with, where it is refused for them", async () => {
  for (const doubling of ALL_DOUBLINGS) {
    const few = await statusOf(doubling, FEW);
    const { name, status, n } = doubling;
    if (few !== status) assert.deepEqual([name, await statusOf(doubling, n), status >= 400], [name, status, true]);
  }
});
