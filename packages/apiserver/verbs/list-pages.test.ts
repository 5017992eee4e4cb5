import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { world } from "../testing.ts";

interface Page {
  metadata: { continue?: string; remainingItemCount?: number };
  items: { metadata: { name: string } }[];
}

test("pages of any size hold each object once, in order, and each says how many follow", async () => {
  const names = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(names, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (all, limit, changes) => {
      const w = await world();
      const api = w.server.transport();
      const path = "/api/v1/namespaces/default/configmaps";
      for (const namespace of ["default", "kube-public"])
        for (const n of all)
          await api.request({
            method: "POST",
            path: `/api/v1/namespaces/${namespace}/configmaps`,
            body: { metadata: { name: `c-${n}` } },
          });
      const seen: string[] = [];
      const sorted = all.map((n) => `c-${n}`).toSorted();
      let token: string | undefined;
      do {
        const query = { limit: String(limit), ...(token !== undefined && { continue: token }) };
        const { metadata, items } = (await api.request({ method: "GET", path, query })).body as Page;
        seen.push(...items.map((item) => item.metadata.name).filter((name) => name.startsWith("c-")));
        token = metadata.continue;
        const left = sorted.length - seen.length;
        assert.equal(metadata.remainingItemCount, left === 0 ? undefined : left);
        // Later pages show the collection as it was at the first.
        const last = sorted.at(-1);
        if (changes && token !== undefined && last !== undefined)
          await api.request({ method: "DELETE", path: `${path}/${last}` });
      } while (token !== undefined);
      assert.deepEqual(seen, sorted);
      await api.close();
      await w.close();
    }),
    { numRuns: 40 },
  );
});
