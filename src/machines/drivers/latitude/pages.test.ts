import assert from "node:assert/strict";
import { test } from "node:test";
import { everyPage, single } from "./pages.ts";
import type { Session } from "./session.ts";

const all = (...ids: string[]) => ids.map((id) => ({ id }));

/** Reads a list whose pages are these, in the order in which they are asked for. */
async function listed(...pages: { data?: unknown; total?: number }[]) {
  const asked: unknown[] = [];
  const session = (async ({ query }: { query: Record<string, unknown> }) => {
    asked.push(query["page[number]"]);
    const { data, total } = pages[asked.length - 1] ?? assert.fail(`page ${asked.length} was asked for`);
    return { data, ...(total !== undefined && { meta: { stats: { total: { count: total } } } }) };
  }) as unknown as Session;
  const found = await everyPage(session, {
    path: "/servers",
    query: { a: "b" },
    pageSize: 2,
    on: "servers",
    signal: undefined,
  });
  return [found.map(({ id }) => id), asked];
}

test("a list ends with the total that the API reports, whatever size its pages have", async () => {
  assert.deepEqual(await listed({ data: all("a", "b"), total: 3 }, { data: all("c"), total: 3 }), [
    ["a", "b", "c"],
    [1, 2],
  ]);
  assert.deepEqual(await listed({ data: all("a"), total: 2 }, { data: all("b"), total: 2 }), [
    ["a", "b"],
    [1, 2],
  ]);
  assert.deepEqual(await listed({ data: [], total: 0 }), [[], [1]]);
});

test("without a total a list ends with an empty page", async () => {
  assert.deepEqual(await listed({ data: all("a") }, { data: all("b") }, { data: [] }), [
    ["a", "b"],
    [1, 2, 3],
  ]);
});

test("a list that changes while it is read is read anew, three times at most, and has each resource once", async () => {
  const moved = [
    { data: all("a", "b"), total: 3 },
    { data: all("b", "c"), total: 4 },
  ];
  const steady = [
    { data: all("b", "c"), total: 3 },
    { data: all("d"), total: 3 },
  ];
  assert.deepEqual(await listed(...moved, ...steady), [
    ["b", "c", "d"],
    [1, 2, 1, 2],
  ]);
  assert.deepEqual(await listed(...moved, ...moved, ...moved), [
    ["a", "b", "c"],
    [1, 2, 1, 2, 1, 2],
  ]);
});

test("an answer without data, and a resource without an id, are faults of the API", async () => {
  await assert.rejects(listed({}), { code: "Unavailable", on: "servers", message: /without data/ });
  for (const one of [null, {}, { id: "" }, { id: 7 }]) {
    await assert.rejects(listed({ data: [one], total: 1 }), { code: "Unavailable", message: /no id/ });
    assert.throws(() => single({ data: one }, "server"), { code: "Unavailable" });
    assert.throws(() => single({ data: one }, "server", "LostAnswer"), { code: "LostAnswer" });
  }
  assert.throws(() => single(undefined, "server"), { code: "Unavailable" });
  assert.deepEqual(single({ data: { id: "a" } }, "server"), { id: "a" });
});
