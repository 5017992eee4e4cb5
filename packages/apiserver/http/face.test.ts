import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cryptoRandom, quietLog, systemClock } from "@slipway/base";
import type { WatchStream } from "@slipway/kube";
import { load } from "js-yaml";
import { oldWorkloads } from "../extras.ts";
import type { Body } from "../model/served.ts";
import { createApiServer } from "../server.ts";
import { CONFIG_MAPS, DEFINITIONS, WIDGET, WIDGETS, widgets, world } from "../testing.ts";

const tokens = { "a-token": { name: "admin", groups: ["system:masters"] } };
const base = { clock: systemClock, random: cryptoRandom, log: quietLog, tokens };
const headers = { authorization: "Bearer a-token", "content-type": "application/json" };

test("over a socket: a stranger is refused, a bad token is nobody's, a long list comes whole, a watch streams lines", async (t) => {
  const server = await createApiServer(base);
  t.after(() => server.close());
  const face = await server.listen({});
  const at = (path: string): string => `${face.url}${path}`;
  assert.equal((await fetch(at(CONFIG_MAPS))).status, 403);
  assert.equal((await fetch(at(CONFIG_MAPS), { headers: { authorization: "Bearer wrong" } })).status, 401);
  assert.equal(await (await fetch(at("/readyz"))).text(), "ok");
  const made = [...Array(450).keys()].map((i) =>
    fetch(at(CONFIG_MAPS), {
      method: "POST",
      headers,
      body: JSON.stringify({ metadata: { name: `c${i}` }, data: { x: '"items":[]' } }),
    }),
  );
  for (const answer of await Promise.all(made)) {
    assert.equal(answer.status, 201);
    await answer.arrayBuffer();
  }
  const list = (await (await fetch(at(CONFIG_MAPS), { headers })).json()) as {
    items: Body[];
    metadata: { resourceVersion: string };
  };
  assert.equal(list.items.length, 450);
  const watch = await fetch(
    at(`${CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion=${list.metadata.resourceVersion}`),
    { headers },
  );
  await fetch(at(`${CONFIG_MAPS}/c1`), { method: "DELETE", headers });
  const lines = (await watch.text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; object: Body });
  assert.deepEqual(
    lines.map((l) => `${l.type} ${l.object.metadata.name}`),
    ["DELETED c1"],
  );
  const large = await fetch(at(CONFIG_MAPS), { method: "POST", headers, body: `{"a":"${"x".repeat(4 << 20)}"}` });
  assert.equal(large.status, 413);
  const yaml = await fetch(at(`${CONFIG_MAPS}/c2`), { headers: { ...headers, accept: "application/yaml" } });
  assert.match(await yaml.text(), /^apiVersion: v1$/m);
});

test("a restart from the file finds objects, definitions and the version", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-api-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const storage = { file: join(folder, "db") };
  const first = await createApiServer({ ...base, storage });
  const before = first.transport();
  await before.request({ method: "POST", path: DEFINITIONS, body: widgets });
  const made = await before.request({ method: "POST", path: WIDGETS, body: { ...WIDGET, metadata: { name: "a" } } });
  assert.equal(made.status, 201);
  await first.close();
  const second = await createApiServer({ ...base, storage });
  const after = second.transport();
  assert.deepEqual((await after.request({ method: "GET", path: `${WIDGETS}/a` })).body, made.body);
  const next = await after.request({ method: "POST", path: CONFIG_MAPS, body: { metadata: { name: "b" } } });
  assert.ok(
    Number((next.body as Body).metadata.resourceVersion) > Number((made.body as Body).metadata.resourceVersion),
  );
  await second.close();
});

test("a watcher that stops reading is cut off, and others see every change meanwhile", async (t) => {
  const server = await createApiServer(base);
  t.after(() => server.close());
  const stalledMs = 300;
  const face = await server.listen({ stalledMs });
  const watching = `${CONFIG_MAPS}?watch=1&resourceVersion=${(await version(face.url)).trim()}`;
  const slow = connect(face.port, "127.0.0.1");
  slow.on("error", () => {});
  slow.write(`GET ${watching} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer a-token\r\n\r\n`);
  await once(slow, "readable");
  const cut = once(slow, "close");

  // Not by a socket of this process, which on a busy machine would read late, too.
  const fast = (await server.transport().watch({
    method: "GET",
    path: CONFIG_MAPS,
    query: { resourceVersion: (await version(face.url)).trim() },
  })) as WatchStream;
  const seen: string[] = [];
  const all = (async () => {
    for await (const { object } of fast) {
      seen.push((object as Body).metadata.name);
      if (seen.at(-1) === "last") break;
    }
  })();
  const big = "x".repeat(200_000);
  const made: string[] = [];
  const make = async (name: string): Promise<void> => {
    const body = JSON.stringify({ metadata: { name }, data: { big } });
    await (await fetch(`${face.url}${CONFIG_MAPS}`, { method: "POST", headers, body })).arrayBuffer();
    made.push(name);
  };
  // More than the socket holds, and longer than the patience that the one who doesn't read is met with.
  while (made.length < 100) await make(`c${made.length}`);
  for (const full = performance.now(); performance.now() < full + 3 * stalledMs; ) await make(`c${made.length}`);
  await make("last");
  await all;
  assert.deepEqual(seen, made);
  // It never read: what is in the socket's buffers must be taken out before the end shows.
  slow.resume();
  await cut;
});

test("metrics count requests by resource and objects by kind, and strangers' paths as one", async () => {
  const w = await world();
  await w.ask("POST", CONFIG_MAPS, { metadata: { name: "a" } });
  for (const path of ["/apis/no/v1/such", "/api/v1/%zz"])
    assert.ok((await w.send({ method: "GET", path })).status >= 400);
  const text = String((await w.send({ method: "GET", path: "/metrics" })).body);
  const created = 'verb="POST",group="",version="v1",resource="configmaps",subresource="",code="201"';
  assert.ok(text.includes(`apiserver_request_total{${created}} 1`), text);
  assert.match(text, /apiserver_storage_objects\{resource="namespaces"\} 4/);
  assert.doesNotMatch(text, /such|zz/);
  await w.close();
});

async function version(url: string): Promise<string> {
  const list = (await (await fetch(`${url}${CONFIG_MAPS}`, { headers })).json()) as { metadata: Body["metadata"] };
  return list.metadata.resourceVersion;
}

test("people's tools get JSON with line breaks, programs get it without, and a request may say which", async (t) => {
  const server = await createApiServer(base);
  t.after(() => server.close());
  const { url } = await server.listen({});
  const lines = async (path: string, agent: string): Promise<number> => {
    const answer = await fetch(`${url}${path}`, { headers: { ...headers, "user-agent": agent } });
    return (await answer.text()).trim().split("\n").length;
  };
  assert.equal(await lines("/api", "kubectl/1.36"), 1);
  assert.ok((await lines("/api", "curl/8.0")) > 1);
  assert.ok((await lines("/api?pretty=true", "kubectl/1.36")) > 1);
  assert.equal(await lines("/api?pretty=false", "curl/8.0"), 1);
});

test("a long answer is compressed for who takes gzip, whole and for every shape; short ones and watches are not", async (t) => {
  const server = await createApiServer(base);
  t.after(() => server.close());
  const face = await server.listen({});
  const made = [...Array(450).keys()].map(async (i) => {
    const body = JSON.stringify({ metadata: { name: `c${i}` }, data: { x: "é".repeat(i === 0 ? 80_000 : 200) } });
    const answer = await fetch(`${face.url}${CONFIG_MAPS}`, { method: "POST", headers, body });
    await answer.arrayBuffer();
  });
  await Promise.all(made);
  const ask = async (path: string, encoding: string, more: Record<string, string> = {}) => {
    const all = { ...headers, "accept-encoding": encoding, ...more };
    const answer = await fetch(`${face.url}${CONFIG_MAPS}${path}`, { headers: all });
    const { status, headers: shown } = answer;
    assert.equal(status, 200);
    return { coding: shown.get("content-encoding"), vary: shown.get("vary"), text: await answer.text() };
  };
  for (const [path, more] of [
    ["", {}],
    ["?limit=100", {}],
    ["?pretty=true", {}],
    ["/c0", {}],
    ["/c0", { accept: "application/yaml" }],
  ] as const) {
    const [plain, packed] = [await ask(path, "identity", more), await ask(path, "deflate, gzip", more)];
    assert.deepEqual([plain.coding, plain.vary], [null, null]);
    assert.deepEqual([packed.coding, packed.vary], ["gzip", "Accept-Encoding"], `${path} ${JSON.stringify(more)}`);
    // A page says where the next begins, sealed anew each time.
    if (!path.includes("limit")) assert.ok(plain.text === packed.text);
    assert.ok(packed.text.length > 80_000);
  }
  for (const path of ["/c1", "?limit=1&fieldSelector=metadata.name%3Dc1", "?watch=1&timeoutSeconds=1"])
    assert.equal((await ask(path, "gzip")).coding, null, path);
});

test("what is nested deeply is not sent as hundreds of times its size: indentation is left out", async (t) => {
  const server = await createApiServer({ ...base, extras: [oldWorkloads] });
  t.after(() => server.close());
  const { url } = await server.listen({});
  const revisions = `${url}/apis/apps/v1/namespaces/default/controllerrevisions`;
  const data = `${'{"a":'.repeat(400)}[${"1,".repeat(40_000)}1]${"}".repeat(400)}`;
  const body = `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"deep"},"revision":1,"data":${data}}`;
  const made = await fetch(revisions, { method: "POST", headers, body });
  assert.equal(made.status, 201);
  const plain = await made.text();
  const pretty = await (await fetch(`${revisions}/deep?pretty=true`, { headers })).text();
  const yaml = await (await fetch(`${revisions}/deep`, { headers: { ...headers, accept: "application/yaml" } })).text();
  assert.deepEqual(JSON.parse(pretty), JSON.parse(plain));
  assert.deepEqual(load(yaml, { maxDepth: 1_000 }), JSON.parse(plain));
  for (const text of [pretty, yaml]) assert.ok(text.length < 4 * plain.length, `${text.length} of ${plain.length}`);
});
