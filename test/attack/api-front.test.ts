/** Attacks on the embedded API's connections and on the bytes it holds, over loopback. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { before, type TestContext, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { type ApiServer, createApiServer, type Listening, type ListenOptions } from "@slipway/apiserver";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import { laptopIdentity } from "../../src/laptop/identity.ts";

const MIB = 1024 * 1024;
const PATH = "/api/v1/namespaces/default/configmaps";
const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const DEADLINE_MS = 120_000;
const tokens = {
  admin: { name: "admin", groups: ["system:masters"] },
  weak: { name: "weak", groups: [] },
  other: { name: "other", groups: [] },
};

let tls: NonNullable<ListenOptions["tls"]>;
before(async () => {
  tls = (await laptopIdentity(undefined, "127.0.0.1", clock)).serving;
});

async function serve(
  t: TestContext,
  listen: ListenOptions = {},
  bodies?: { all: number; each: number },
): Promise<Listening & { server: ApiServer }> {
  const server = await createApiServer({ clock, random, log: quietLog, tokens, ...(bodies && { bodies }) });
  t.after(() => server.close());
  return { ...(await server.listen(listen)), server };
}

async function within<T>(what: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = clock.after(DEADLINE_MS, () => late.reject(new Error(`not within ${DEADLINE_MS} ms: ${what}`)));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    timer.cancel();
  }
}

interface Attacker {
  socket: Socket;
  /** What the server sent until it closed the connection. */
  ended: Promise<string>;
  /** Resolves with the status of the first answer. */
  status: Promise<number>;
}

function attack(t: TestContext, port: number, head: string): Attacker {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  let seen = "";
  const status = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<string>();
  socket.on("data", (chunk: Buffer) => {
    seen += chunk.toString();
    const found = /^HTTP\/1\.1 (\d+)/.exec(seen)?.[1];
    if (found !== undefined) status.resolve(Number(found));
  });
  socket.on("error", () => {});
  socket.on("close", () => ended.resolve(seen));
  socket.write(head);
  return { socket, ended: ended.promise, status: status.promise };
}

const post = (path: string, token: string, length: number): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n` +
  `${token === "" ? "" : `authorization: Bearer ${token}\r\n`}content-length: ${length}\r\n\r\n`;

/** Bytes that buffers hold in this process now. */
function held(): number {
  globalThis.gc?.();
  const { external, arrayBuffers, heapUsed } = process.memoryUsage();
  return external + arrayBuffers + heapUsed;
}

for (const [who, token, code] of [
  ["nobody", "", 403],
  ["somebody with a wrong token", "wrong", 401],
  ["a user without the right", "weak", 403],
] as const)
  test(`250 connections of ${who} that send bodies without end are refused before the body, and closed`, async (t) => {
    const { port } = await serve(t);
    const before = held();
    const chunk = Buffer.alloc(MIB, "x");
    const attackers = Array.from({ length: 250 }, () => attack(t, port, post(PATH, token, 3 * MIB)));
    // All but the last byte.
    for (const { socket } of attackers) socket.write(chunk);
    const codes = await within("each is answered", Promise.all(attackers.map(({ status }) => status)));
    assert.deepEqual(new Set(codes), new Set([code]));
    const answers = await within("each is closed", Promise.all(attackers.map(({ ended }) => ended)));
    for (const answer of answers) assert.match(answer, /^connection: close$/im);
    // Sockets give their buffers back some turns after they have closed.
    const isFree = async (): Promise<void> => {
      while (held() - before >= 64 * MIB) await clock.sleep(50);
    };
    await within("less than 64 MiB are held", isFree());
  });

test("one user's bodies have a bound, and leave room for others and for administrators", async (t) => {
  const { port, url } = await serve(t, {}, { all: 10 * MIB, each: 4 * MIB });
  const slow = Array.from({ length: 8 }, () => attack(t, port, post(REVIEWS, "weak", MIB)));
  for (const { socket } of slow) socket.write(Buffer.alloc(MIB / 2, " "));
  const codes = await within(
    "those beyond the bound are refused",
    Promise.all([...slow.keys()].map(async (i) => (i < 4 ? 0 : await slow[i]!.status))),
  );
  assert.deepEqual(codes, [0, 0, 0, 0, 429, 429, 429, 429]);
  assert.match(await slow[4]!.ended, /^retry-after: 1$/im);
  const ask = (token: string, path: string, body: object) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const review = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { nonResourceAttributes: { path: "/", verb: "get" } },
  };
  assert.equal((await ask("other", REVIEWS, review)).status, 201);
  assert.equal((await ask("weak", REVIEWS, review)).status, 429);
  assert.equal((await ask("admin", PATH, { metadata: { name: "a" } })).status, 201);
  for (const { socket } of slow) socket.destroy();
  await within(
    "the user's share is free again",
    (async () => {
      while ((await ask("weak", REVIEWS, review)).status !== 201);
    })(),
  );
});

test("a body of unknown length counts as it comes and is refused at the limit of one request", async (t) => {
  const { port } = await serve(t);
  const head = post(PATH, "admin", 0).replace("content-length: 0", "transfer-encoding: chunked");
  const attacker = attack(t, port, head);
  const piece = `${(64 * 1024).toString(16)}\r\n${"x".repeat(64 * 1024)}\r\n`;
  for (let sent = 0; sent < 4 * MIB; sent += 64 * 1024) attacker.socket.write(piece);
  const seen = await within("it is refused and closed", attacker.ended);
  assert.match(seen, /^HTTP\/1\.1 413/);
  assert.match(seen, /Request entity too large: limit is 3145728/);
});

test("a body, and headers, that take too long cost the client its connection", async (t) => {
  const { port } = await serve(t, { bodyMs: 200, headersMs: 200 });
  const body = attack(t, port, post(PATH, "admin", 100));
  body.socket.write("{");
  assert.match(
    await within("the body is given up", body.ended),
    /^HTTP\/1\.1 504[\s\S]*did not complete within the allotted timeout/,
  );
  const headers = attack(t, port, "GET / HTTP/1.1\r\nhost:");
  assert.match(await within("the headers are given up", headers.ended), /^HTTP\/1\.1 408/);
});

test("a client that asks before it sends a body is asked to go on only when it may", async (t) => {
  const { port } = await serve(t);
  const expecting = (token: string) => post(PATH, token, 40).replace("\r\n\r\n", "\r\nexpect: 100-continue\r\n\r\n");
  const refused = attack(t, port, expecting("weak"));
  assert.equal(await within("it is refused", refused.status), 403);
  const taken = attack(t, port, expecting("admin"));
  assert.equal(await within("it is asked to go on", taken.status), 100);
  taken.socket.write('{"metadata":{"name":"asked"}}'.padEnd(40));
  await once(taken.socket, "data");
});

test("a flood of connections that prove nothing keeps nobody out who does", async (t) => {
  const limits = { all: 60, perAddress: 60, strangers: 20, strangersPerAddress: 20 };
  const { port, url } = await serve(t, { connections: limits });
  const headers = { authorization: "Bearer admin" };
  const known = attack(t, port, "GET /version HTTP/1.1\r\nhost: x\r\nauthorization: Bearer admin\r\n\r\n");
  assert.equal(await known.status, 200);
  const flood = Array.from({ length: 100 }, () => attack(t, port, ""));
  await within("the oldest strangers are closed", Promise.all(flood.slice(0, 80).map(({ ended }) => ended)));
  assert.equal((await fetch(`${url}/version`, { headers })).status, 200);
  assert.equal(known.socket.destroyed, false);
});

async function http2(t: TestContext, url: string): Promise<ClientHttp2Session> {
  const session = connectHttp2(url.replace("http:", "https:"), { rejectUnauthorized: false });
  session.on("error", () => {});
  t.after(() => session.destroy());
  await once(session, "connect");
  return session;
}

/** A frame of HTTP/2 (RFC 9113 §4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A connection that speaks HTTP/2 by hand, its preface and settings sent. */
async function rawHttp2(t: TestContext, port: number): Promise<Socket> {
  const raw = connectTls({ port, host: "127.0.0.1", ALPNProtocols: ["h2"], rejectUnauthorized: false });
  raw.on("error", () => {});
  t.after(() => raw.destroy());
  await once(raw, "secureConnect");
  raw.resume();
  raw.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  raw.write(frame(4, 0, 0, Buffer.alloc(0)));
  return raw;
}

/** Writes what `next` gives, again and again, until the server ends the connection. */
async function flood(raw: Socket, next: () => Buffer): Promise<void> {
  const cut = Promise.race([once(raw, "close"), once(raw, "end")]);
  const storm = (): void => {
    if (raw.destroyed || raw.readableEnded || !raw.writable) return;
    raw.write(next());
    setImmediate(storm);
  };
  storm();
  await within("the connection is closed", cut);
}

test("HTTP/2: a client that opens streams only to reset them loses its connection, others do not notice", async (t) => {
  const { port, url } = await serve(t, { tls });
  const [attacker, honest] = [await rawHttp2(t, port), await http2(t, url)];
  // GET https://x/ with credentials, by entries of HPACK's static table.
  const authority = Buffer.concat([Buffer.from([0x41, 1]), Buffer.from("x")]);
  const bearer = Buffer.from("Bearer admin");
  const credentials = Buffer.concat([Buffer.from([0x0f, 0x08, bearer.length]), bearer]);
  const get = Buffer.concat([Buffer.from([0x82, 0x87, 0x84]), authority, credentials]);
  let streams = 0;
  await flood(attacker, () => {
    const id = 2 * streams++ + 1;
    return Buffer.concat([frame(1, 5, id, get), frame(3, 0, id, Buffer.from([0, 0, 0, 8]))]);
  });
  assert.ok(streams < 20_000, `${streams} streams`);
  const stream = honest.request({ ":path": "/api/v1/namespaces", authorization: "Bearer admin" });
  const [answer] = (await within("another client is answered", once(stream, "response"))) as [{ ":status": number }];
  assert.equal(answer[":status"], 200);
});

test("HTTP/2: pings without end cost the connection", async (t) => {
  const { url } = await serve(t, { tls });
  const attacker = await http2(t, url);
  const closed = once(attacker, "close");
  const storm = (): void => {
    if (attacker.destroyed) return;
    for (let i = 0; i < 5; i++) attacker.ping(() => {});
    setImmediate(storm);
  };
  storm();
  await within("the connection is closed", closed);
});

test("HTTP/2: headers that never end, and headers that are too long, are cut off", async (t) => {
  const { port, url } = await serve(t, { tls });
  const raw = await rawHttp2(t, port);
  // A literal header field, as often as it takes, and never END_HEADERS.
  const field = Buffer.concat([Buffer.from([0x00, 1, 0x61, 100]), Buffer.alloc(100, "b")]);
  raw.write(frame(1, 0, 1, field));
  await flood(raw, () => frame(9, 0, 1, field));
  const session = await http2(t, url);
  const stream = session.request({ ":path": "/version", "x-long": "y".repeat(64 * 1024) });
  stream.on("error", () => {});
  const refused = once(stream, "response").then(
    ([head]) => (head as { ":status": number })[":status"] === 431,
    () => true,
  );
  assert.equal(await within("long headers are refused", refused), true);
});

test("HTTP/2: a stranger gets one answer and then no more of the connection", async (t) => {
  const { url } = await serve(t, { tls });
  const session = await http2(t, url);
  const closed = once(session, "close");
  const stream = session.request({ ":path": "/readyz" });
  stream.resume();
  const [answer] = await once(stream, "response");
  assert.equal((answer as { ":status": number })[":status"], 200);
  await within("the connection is closed", closed);
});

test("HTTP/2: a client that opens no window for a long answer loses its stream", async (t) => {
  const { url } = await serve(t, { tls, stalledMs: 300 });
  const session = await http2(t, url);
  const headers = { authorization: "Bearer admin" };
  for (let i = 0; i < 4; i++) {
    const made = session.request({ ...headers, ":path": PATH, ":method": "POST", "content-type": "application/json" });
    made.end(JSON.stringify({ metadata: { name: `c${i}` }, data: { x: "x".repeat(MIB / 2) } }));
    const [answer] = await once(made, "response");
    assert.equal((answer as { ":status": number })[":status"], 201);
    made.resume();
  }
  const stalled = session.request({ ...headers, ":path": PATH });
  stalled.on("error", () => {});
  stalled.pause();
  await within("the stream is reset", once(stalled, "close"));
  const [answer] = await once(session.request({ ...headers, ":path": "/version" }), "response");
  assert.equal((answer as { ":status": number })[":status"], 200);
});
