/** What a client with a certificate may do wrong, and one without. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { isFault } from "@slipway/base";
import { cpuGrowth, MAX_GROWTH } from "@slipway/base/testing";
import fc from "fast-check";
import { readDocument } from "../files/document.ts";
import { tasksOf } from "../parlay/action.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { PRESEED, plunderWorld } from "./testing.ts";

const WRONG = [
  ...["", "{", "null", "[]", "0", '"x"', "a: &a [*a]", "deployments: null", "globalConfig: []", "\u0000"],
  ...['{"mac":null}', '{"mac":"52:54:00:00:00:01","bootConfigName":"__proto__"}', '{"__proto__":{"mac":1}}'],
  ...['{"deployments":[{"name":"d","hosts":["10.0.0.1"],"actions":[]}]}', JSON.stringify({ a: "x".repeat(200_000) })],
  "[".repeat(5_000),
];

const IDS = ["x", "..", "%2e%2e%2f", "%", "__proto__", "constructor", "52-54-00-00-00-01", "10-0-0-1", "a/b/c", "%00"];

/** Each body at each endpoint, and each id at each that takes one. */
const REQUESTS = ENDPOINTS.flatMap(({ method, path, functionEndpoint }) =>
  (functionEndpoint === "/{id}" ? IDS : [""]).flatMap((id, at) => {
    const where = `${path}${functionEndpoint.replace("{id}", id)}`;
    const bodies = method === "GET" || method === "DELETE" ? [""] : at === 0 ? WRONG : [WRONG[at % WRONG.length]!];
    return bodies.map((body) => ({ method, where, body }));
  }),
);

test("N6 no request ends the service, whatever its path and body, over and over", { timeout: 600_000 }, async (t) => {
  const { ask } = await plunderWorld(t);
  await ask("/config/boot/preseed", { method: "POST", body: PRESEED });
  for (const { method, where, body } of REQUESTS) {
    const native = await ask(`/v1/plunder${where}`, { method, body });
    const what = `${method} ${where} ${body.slice(0, 40)}`;
    assert.ok(native.status < 500, `${what}: ${native.status} ${JSON.stringify(native.body)}`);
    const { status } = await ask(where, { method, body });
    // Dots lead out of plunder's paths before anybody looks at them.
    assert.ok(status === 200 || (status === 404 && /\.\.|%2e/.test(where)), `${what}: ${status}`);
  }
  assert.equal((await ask("/v1/plunder/deployments")).status, 200);
});

test("any text is read as a map, or refused as one: nothing else is thrown, and no value is shown", () => {
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
  const action = fc.dictionary(
    fc.constantFrom(
      "name",
      "type",
      "command",
      "commands",
      "timeout",
      "source",
      "hosts",
      "plugin",
      "commandSudo",
      "keyName",
    ),
    fc.oneof(scalar, fc.array(scalar)),
  );
  const map = fc.record({
    deployments: fc.array(fc.record({ name: scalar, hosts: fc.array(scalar), actions: fc.array(action) })),
  });
  const texts = fc.oneof(
    fc.string(),
    map.map((value) => JSON.stringify(value)),
    fc.json(),
  );
  fc.assert(
    fc.property(texts, (text) => {
      try {
        tasksOf(readDocument(text, "map"), "map");
      } catch (error) {
        assert.ok(isFault(error, "Invalid", "TooLarge"), String(error));
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 0) > 1_000 ? 20_000 : 300 },
  );
});

test("a file of twice the deployments takes about twice the work", () => {
  const read = (count: number) => {
    const deployments = Array.from({ length: count }, (_, at) => ({
      name: `d${at}`,
      hosts: [`10.0.${at >> 8}.${at & 255}`],
      actions: [{ name: "a", type: "command", command: "x" }],
    }));
    const text = JSON.stringify({ deployments }, null, 1);
    return () => void readDocument(text, "f").lineOf(["deployments", count - 1, "hosts", 0]);
  };
  const growth = cpuGrowth(read, 400);
  assert.ok(growth <= MAX_GROWTH, `twice the input takes ${growth} times the work`);
});

test("a body that is too large is refused before it is read, and a client that sends nothing is not waited for", async (t) => {
  const { server, identity, folder, ask } = await plunderWorld(t);
  const own = {
    key: readFileSync(join(folder, "pki/client-key.pem")),
    cert: readFileSync(join(folder, "pki/client.pem")),
  };
  const socket = connectTls({ host: "127.0.0.1", port: server.port, ca: identity.authority, ...own });
  await once(socket, "secureConnect");
  socket.write("POST /deployments HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n{");
  const [answer] = (await once(socket, "data")) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 413 /);
  socket.destroy();
  // Nothing but an open connection: no handshake.
  const silent = connect(server.port, "127.0.0.1");
  await once(silent, "connect");
  silent.on("error", () => {});
  const limit = AbortSignal.timeout(60_000);
  await once(silent, "close", { signal: limit }).catch(() =>
    assert.fail("a connection without a handshake still stands after 60 s"),
  );
  assert.equal((await ask("/api")).status, 200);
});

test("more connections of one address than a client needs are closed at once", async (t) => {
  const { server, ask } = await plunderWorld(t);
  const sockets = Array.from({ length: 100 }, () => connect(server.port, "127.0.0.1").on("error", () => {}));
  let closed = 0;
  for (const socket of sockets) socket.once("close", () => closed++);
  const limit = AbortSignal.timeout(30_000);
  while (closed < 30) {
    if (limit.aborted) assert.fail(`${closed} of 100 connections were closed in 30 s`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const socket of sockets) socket.destroy();
  await Promise.all(sockets.filter((socket) => !socket.closed).map((socket) => once(socket, "close")));
  assert.equal((await ask("/api")).status, 200);
});
