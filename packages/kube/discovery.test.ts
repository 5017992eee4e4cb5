import assert from "node:assert/strict";
import { test } from "node:test";
import { Discovery } from "./discovery.ts";
import type { ApiAnswer, Transport } from "./transport.ts";

const LISTS: Record<string, object[]> = {
  "/api/v1": [
    { name: "pods/binding", kind: "Pod", namespaced: true },
    { name: "pods", kind: "Pod", namespaced: true },
    { name: "nodes", kind: "Node", namespaced: false },
  ],
  "/apis/sea.example.org/v1": [{ name: "boats", kind: "Boat", namespaced: true }],
};

function api(): { discovery: Discovery; paths: string[] } {
  const paths: string[] = [];
  const request = async ({ path }: { path: string }): Promise<ApiAnswer> => {
    paths.push(path);
    if (path.includes("broken")) return { status: 500, headers: {}, body: {} };
    const resources = LISTS[path];
    return { status: resources === undefined ? 404 : 200, headers: {}, body: { resources } };
  };
  return { discovery: new Discovery({ request } as unknown as Transport), paths };
}

test("a kind's resource is found, each list is asked for once", async () => {
  const { discovery, paths } = api();
  const pod = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };
  assert.deepEqual(await discovery.resourceOf("v1", "Pod"), pod);
  assert.equal((await discovery.resourceOf("v1", "Node")).namespaced, false);
  const boat = { group: "sea.example.org", version: "v1", kind: "Boat", plural: "boats", namespaced: true };
  assert.deepEqual(await discovery.resourceOf("sea.example.org/v1", "Boat"), boat);
  assert.deepEqual(paths, ["/api/v1", "/apis/sea.example.org/v1"]);
});

test("what is not served, and an API that does not answer, are named", async () => {
  const { discovery, paths } = api();
  const missing = { code: "NotFound", message: /v1 Ship: the API serves no such kind/ };
  await assert.rejects(discovery.resourceOf("v1", "Ship"), missing);
  await assert.rejects(discovery.resourceOf("land.example.org/v1", "Ship"), { code: "NotFound" });
  await assert.rejects(discovery.resourceOf("broken.example.org/v1", "Ship"), { code: "Unavailable", message: /500/ });
  const before = paths.length;
  await assert.rejects(discovery.resourceOf("broken.example.org/v1", "Ship"), { code: "Unavailable" });
  assert.equal(paths.length, before + 1, "a failure is not remembered");
});
