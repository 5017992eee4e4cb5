import assert from "node:assert/strict";
import { test } from "node:test";
import { world } from "../testing.ts";

const PATH = "/api/v1/namespaces/default/configmaps";

test("a page of a version that is named shows that version; without a limit, or not older than it, the present", async () => {
  const { server } = await world();
  const api = server.transport();
  const made = await api.request({ method: "POST", path: PATH, body: { metadata: { name: "a" } } });
  const { resourceVersion: first } = (made.body as { metadata: { resourceVersion: string } }).metadata;
  await api.request({ method: "POST", path: PATH, body: { metadata: { name: "b" } } });
  const names = async (query: Record<string, string>): Promise<string[]> => {
    const { items } = (await api.request({ method: "GET", path: PATH, query })).body as {
      items: { metadata: { name: string } }[];
    };
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== "kube-root-ca.crt");
  };
  assert.deepEqual(await names({ resourceVersion: first, limit: "50" }), ["a"]);
  assert.deepEqual(await names({ resourceVersion: first, resourceVersionMatch: "Exact" }), ["a"]);
  assert.deepEqual(await names({ resourceVersion: first }), ["a", "b"]);
  const atLeast = { resourceVersion: first, resourceVersionMatch: "NotOlderThan" };
  assert.deepEqual(await names({ ...atLeast, limit: "50" }), ["a", "b"]);
  assert.deepEqual(await names({ resourceVersion: "0", limit: "1" }), ["a", "b"]);
});
