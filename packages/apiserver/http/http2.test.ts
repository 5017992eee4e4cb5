/** The TLS face speaks HTTP/2 to who chooses it, with the same answers as over HTTP/1.1. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { type TestContext, test } from "node:test";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import { selfSigned } from "@slipway/base/testing";
import { Agent, fetch as fetchWith } from "undici";
import { impersonation } from "../extras.ts";
import { type ApiServer, createApiServer } from "../server.ts";
import { CONFIG_MAPS } from "../testing.ts";

const tokens = { admin: { name: "admin", groups: ["system:masters"] } };
const TOKEN = { authorization: "Bearer admin", "content-type": "application/json" };

async function start(t: TestContext) {
  const [serving, certificate] = await Promise.all([
    selfSigned("127.0.0.1"),
    selfSigned("system:admin", { organization: "system:masters" }),
  ]);
  const server = await createApiServer({ clock, random, log: quietLog, tokens, extras: [impersonation] });
  t.after(() => server.close());
  const { url } = await server.listen({ tls: { ...serving, clientCa: certificate.cert } });
  return { server, url, ca: serving.cert, certificate };
}

async function session(t: TestContext, url: string, options: object): Promise<ClientHttp2Session> {
  const opened = connect(url, options);
  t.after(() => opened.destroy());
  await once(opened, "connect");
  return opened;
}

async function ask(
  over: ClientHttp2Session,
  method: string,
  path: string,
  { headers = {}, body = "" }: { headers?: OutgoingHttpHeaders; body?: string } = {},
) {
  const stream = over.request({ ":method": method, ":path": path, ...TOKEN, ...headers });
  if (body !== "") stream.end(body);
  const [head] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status": number }];
  stream.setEncoding("utf8");
  let text = "";
  for await (const chunk of stream) text += chunk;
  return { status: head[":status"], head, text };
}

const map = (name: string, size = 0): string => JSON.stringify({ metadata: { name }, data: { x: "x".repeat(size) } });

test("HTTP/2 and HTTP/1.1 on one port: create, read, compressed list, refusal, and a body that is too large", async (t) => {
  const { url, ca } = await start(t);
  const over = await session(t, url, { ca });
  assert.equal(over.alpnProtocol, "h2");
  for (const name of ["a", "b"])
    assert.equal((await ask(over, "POST", CONFIG_MAPS, { body: map(name, 100_000) })).status, 201);
  assert.equal((JSON.parse((await ask(over, "GET", `${CONFIG_MAPS}/a`)).text) as { kind: string }).kind, "ConfigMap");
  assert.equal(
    (await ask(over, "GET", CONFIG_MAPS, { headers: { "accept-encoding": "gzip" } })).head["content-encoding"],
    "gzip",
  );
  assert.equal((await ask(over, "GET", `${CONFIG_MAPS}/c`)).status, 404);
  const large = await ask(over, "POST", CONFIG_MAPS, { body: map("large", 4 << 20) });
  assert.deepEqual([large.status, large.text.includes("limit is 3145728")], [413, true]);
  const agent = new Agent({ connect: { ca }, allowH2: false });
  t.after(() => agent.destroy());
  const first = await fetchWith(`${url}${CONFIG_MAPS}/a`, { headers: TOKEN, dispatcher: agent });
  assert.equal(first.status, 200);
  await first.arrayBuffer();
});

test("HTTP/2: a hundred watches share a connection; each is closed by itself, and by its client alone", async (t) => {
  const { url, ca } = await start(t);
  const over = await session(t, url, { ca });
  const open = Array.from({ length: 90 }, () => {
    const stream = over.request({ ":path": `${CONFIG_MAPS}?watch=1&resourceVersion=1`, ...TOKEN });
    const { promise: line, resolve } = Promise.withResolvers<string>();
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.endsWith("\n")) resolve(text);
    });
    return { stream, line };
  });
  await Promise.all(open.map(({ stream }) => once(stream, "response")));
  const [left, ...others] = open;
  left!.stream.close(8);
  assert.equal((await ask(over, "POST", CONFIG_MAPS, { body: map("a") })).status, 201);
  for (const shown of await Promise.all(others.map(({ line }) => line)))
    assert.equal((JSON.parse(shown) as { type: string }).type, "ADDED");
});

test("HTTP/2: a client is known by its certificate, and impersonates with headers that are repeated", async (t) => {
  const { url, ca, certificate } = await start(t);
  const over = await session(t, url, { ca, ...certificate });
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
  const who = async (headers: OutgoingHttpHeaders): Promise<unknown> => {
    const { text } = await ask(over, "POST", path, { headers: { authorization: "", ...headers }, body });
    const { userInfo } = (JSON.parse(text) as { status: { userInfo: { groups: string[] } } }).status;
    return userInfo.groups;
  };
  assert.deepEqual(await who({}), ["system:masters", "system:authenticated"]);
  assert.deepEqual(await who({ "impersonate-user": "jane", "impersonate-group": ["a, b", "c"] }), [
    "a, b",
    "c",
    "system:authenticated",
  ]);
});

test("HTTP/2: a server that closes says so, ends watches in order and lets answers under way arrive", async (t) => {
  const { server, url, ca } = await start(t);
  const over = await session(t, url, { ca });
  const shown = once(over, "goaway");
  const watch = over.request({ ":path": `${CONFIG_MAPS}?watch=1`, ...TOKEN });
  await once(watch, "response");
  watch.resume();
  const ended = once(watch, "end");
  await (server satisfies ApiServer).close();
  await Promise.all([shown, ended]);
  assert.equal(watch.rstCode, 0);
});
