import assert from "node:assert/strict";
import { test } from "node:test";
import type { WatchStream } from "@slipway/kube";
import fc from "fast-check";
import type { Table } from "../builtin/table.ts";
import type { Body } from "../model/served.ts";
import { CONFIG_MAPS, world } from "../testing.ts";

const MERGE = { contentType: "application/merge-patch+json" };
const map = (name: string, labels = {}) => ({ metadata: { name, labels }, data: {} });

test("a watch shows what happens after its version, in order, each once", async () => {
  const w = await world();
  const made = await w.ask("POST", CONFIG_MAPS, map("a"));
  const watch = await w.watch(CONFIG_MAPS, { resourceVersion: made.metadata.resourceVersion });
  await w.ask("POST", CONFIG_MAPS, map("b"));
  await w.ask("PATCH", `${CONFIG_MAPS}/a`, { data: { x: "1" } }, MERGE);
  await w.ask("DELETE", `${CONFIG_MAPS}/b`);
  await w.clock.settle();
  assert.deepEqual(watch.shown(), ["ADDED b", "MODIFIED a", "DELETED b"]);
  const versions = watch.seen.map((e) => Number((e.object as Body).metadata.resourceVersion));
  assert.deepEqual(
    versions,
    [...versions].sort((a, b) => a - b),
  );
  await w.close();
});

test("a watch resumes from the history and is refused with 410 when that is forgotten", async () => {
  const w = await world({ history: 3 });
  const first = await w.ask("POST", CONFIG_MAPS, map("a"));
  for (const name of ["b", "c", "d", "e"]) await w.ask("POST", CONFIG_MAPS, map(name));
  const late = await w.watch(CONFIG_MAPS, { resourceVersion: first.metadata.resourceVersion });
  assert.equal(late.seen[0]?.type, "ERROR");
  assert.equal((late.seen[0]!.object as { code: number; reason: string }).code, 410);
  assert.equal((late.seen[0]!.object as { reason: string }).reason, "Expired");
  const resumed = await w.watch(CONFIG_MAPS, { resourceVersion: String(Number(first.metadata.resourceVersion) + 2) });
  assert.deepEqual(resumed.shown(), ["ADDED d", "ADDED e"]);
  await w.close();
});

test("sendInitialEvents gives what is there and marks its end", async () => {
  const w = await world();
  await w.ask("POST", CONFIG_MAPS, map("a"));
  const query = { sendInitialEvents: "true", allowWatchBookmarks: "true", resourceVersionMatch: "NotOlderThan" };
  const watch = await w.watch(CONFIG_MAPS, query);
  assert.deepEqual(watch.shown(), ["ADDED a", "BOOKMARK"]);
  assert.equal((watch.seen[1]!.object as Body).metadata.annotations?.["k8s.io/initial-events-end"], "true");
  const refused = await w.refused("GET", CONFIG_MAPS, undefined, {
    query: { watch: "true", sendInitialEvents: "true" },
  });
  assert.match(refused.message ?? "", /resourceVersionMatch: Forbidden/);
  await w.close();
});

test("an object that comes into or leaves the selection is added and deleted", async () => {
  const w = await world();
  const watch = await w.watch(CONFIG_MAPS, { labelSelector: "a=b" });
  await w.ask("POST", CONFIG_MAPS, map("x"));
  await w.ask("PATCH", `${CONFIG_MAPS}/x`, { metadata: { labels: { a: "b" } } }, MERGE);
  await w.ask("PATCH", `${CONFIG_MAPS}/x`, { metadata: { labels: { a: "c" } } }, MERGE);
  await w.clock.settle();
  assert.deepEqual(watch.shown(), ["ADDED x", "DELETED x"]);
  assert.equal((watch.seen[1]!.object as Body).metadata.labels?.a, "b");
  await w.close();
});

test("bookmarks come every minute and timeoutSeconds ends the watch", async () => {
  const w = await world();
  const watch = await w.watch(CONFIG_MAPS, {
    resourceVersion: "1",
    allowWatchBookmarks: "true",
    timeoutSeconds: "150",
  });
  await w.clock.run(149_000);
  assert.deepEqual(watch.shown(), ["BOOKMARK", "BOOKMARK"]);
  await w.clock.run(2_000);
  assert.equal(w.clock.pending, 0);
  await w.close();
});

test("pages of a list show the collection as it was at the first page", async () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,4}$/), { minLength: 3, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(names, fc.integer({ min: 1, max: 4 }), fc.infiniteStream(fc.nat(2)), async (all, limit, moves) => {
      const w = await world();
      for (const name of all) await w.ask("POST", CONFIG_MAPS, map(name));
      const seen: string[] = [];
      let token = "";
      let added = 0;
      do {
        const query = { limit: String(limit), ...(token === "" ? {} : { continue: token }) };
        const page = await w.ask("GET", CONFIG_MAPS, undefined, { query });
        seen.push(...(page.items as Body[]).map((o) => o.metadata.name));
        token = (page.metadata as { continue?: string }).continue ?? "";
        const move = moves.next().value;
        if (move === 1) await w.ask("POST", CONFIG_MAPS, map(`new-${added++}`));
        if (move === 2 && seen.length < all.length)
          await w.send({ method: "DELETE", path: `${CONFIG_MAPS}/${[...all].sort()[seen.length]}` });
      } while (token !== "");
      assert.deepEqual(seen, [...all].sort());
      await w.close();
    }),
    { numRuns: 40 },
  );
});

test("a page that is too old is refused with a token that goes on from the present", async () => {
  const w = await world({ history: 2 });
  for (const name of ["a", "b", "c"]) await w.ask("POST", CONFIG_MAPS, map(name));
  const page = await w.ask("GET", CONFIG_MAPS, undefined, { query: { limit: "1" } });
  const token = (page.metadata as { continue?: string }).continue!;
  for (const name of ["d", "e", "f"]) await w.ask("POST", CONFIG_MAPS, map(name));
  const status = await w.refused("GET", CONFIG_MAPS, undefined, { query: { limit: "9", continue: token } });
  assert.deepEqual([status.code, status.reason], [410, "Expired"]);
  const rest = await w.ask("GET", CONFIG_MAPS, undefined, { query: { continue: String(status.metadata.continue) } });
  assert.deepEqual(
    (rest.items as Body[]).map((o) => o.metadata.name),
    ["b", "c", "d", "e", "f"],
  );
  await w.close();
});

test("AGE in a watched table is counted to each event, whenever the watch was opened", async () => {
  const w = await world();
  const stream = (await w.server.transport().watch({
    method: "GET",
    path: CONFIG_MAPS,
    query: { resourceVersion: "1", timeoutSeconds: "3600" },
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
  })) as WatchStream;
  const ages: unknown[] = [];
  void (async () => {
    for await (const { object } of stream) ages.push((object as Table).rows[0]!.cells.at(-1));
  })();
  await w.clock.run(60_000);
  await w.ask("POST", CONFIG_MAPS, map("a"));
  await w.clock.run(90_000);
  await w.ask("PATCH", `${CONFIG_MAPS}/a`, { data: { x: "1" } }, MERGE);
  await w.clock.settle();
  assert.deepEqual(ages, ["0s", "90s"]);
  await w.close();
});
