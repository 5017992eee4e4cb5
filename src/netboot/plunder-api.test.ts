import assert from "node:assert/strict";
import { test } from "node:test";
import { plunderApi } from "./plunder-api.ts";

const MAC = "00:50:56:a5:b5:f1";
const handler = plunderApi({
  leases: () => [{ mac: MAC, at: 1_700_000_000_000 }],
  unleased: () => [{ mac: MAC, at: 1_700_000_060_000 }],
});
const ask = async (path: string, method: "GET" | "POST" = "GET") => {
  const { status, body } = await handler({ method, url: `https://10.0.0.1:60443${path}`, remote: "10.0.0.2" });
  return { status, body: JSON.parse(body) as Record<string, unknown> };
};

test("N9 plunder's clients get 200 and the envelope, with the payload or with both words for what went wrong", async () => {
  const unleased = await ask("/dhcp/unleased");
  assert.deepEqual(unleased, {
    status: 200,
    body: { success: "true", payload: [{ mac: MAC, time: "2023-11-14T22:14:20.000Z" }] },
  });
  assert.equal((await ask("/dhcp/leases")).status, 200);
  for (const [path, method] of [
    ["/deployment", "POST"],
    ["/parlay/logs/10-0-0-1", "GET"],
  ] as const) {
    const { status, body } = await ask(path, method);
    assert.equal(status, 200);
    assert.equal(typeof body.warning, "string");
    assert.equal(body.friendlyError, body.warning);
    assert.equal(body.payload, undefined);
  }
});

test("a client finds the path of what it looks for by its name", async () => {
  const { payload } = (await ask("/api")).body as {
    payload: { name: string; path: string; functionEndpoint: string }[];
  };
  const found = payload
    .filter(({ name }) => name === "dhcp")
    .map(({ path, functionEndpoint }) => path + functionEndpoint);
  assert.deepEqual(found, ["/dhcp/leases", "/dhcp/unleased"]);
  assert.equal(((await ask("/api/dhcp/GET")).body.payload as { path: string }).path, "/dhcp");
});
