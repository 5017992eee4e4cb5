import assert from "node:assert/strict";
import { createServer as createTcpServer, type Socket } from "node:net";
import { after, test } from "node:test";
import { type Fault, isFault } from "./fault.ts";
import { type HttpHandler, plain } from "./http.ts";
import { undiciHttp } from "./http-client.ts";
import { MAX_ANSWER_BYTES } from "./http-client-options.ts";
import { type HttpServerOptions, serveHttp } from "./http-server.ts";
import { selfSigned } from "./testing.ts";

const http = undiciHttp();
const closers: (() => Promise<void>)[] = [() => http.close()];
after(async () => {
  for (const close of closers) await close();
});

async function serve(handler: HttpHandler, options: HttpServerOptions = {}): Promise<string> {
  const server = await serveHttp(handler, options);
  closers.push(() => server.close());
  return server.url;
}

/** A server of raw bytes, for what a well-behaved server does not do. */
async function raw(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

test("method, path, query, headers and body arrive, and the answer comes back whole", async () => {
  const url = await serve(async (request) => {
    const { pathname, search } = new URL(request.url);
    return plain(201, `${request.method} ${pathname}${search} ${request.headers?.["x-a"]} ${request.body}`, {
      "x-b": "2",
    });
  });

  const answer = await http({ method: "POST", url: `${url}/p?q=1`, headers: { "x-a": "1" }, body: "grüße" });

  assert.deepEqual([answer.status, answer.body, answer.headers["x-b"]], [201, "POST /p?q=1 1 grüße", "2"]);
});

test("a redirect is an answer: the credential is not carried to another host", async () => {
  const url = await serve(async () => plain(302, "", { location: "http://127.0.0.1:9/elsewhere" }));

  assert.equal((await http({ method: "GET", url, headers: { authorization: "Bearer abc" } })).status, 302);
});

test("an error status is an answer, not a fault", async () => {
  const url = await serve(async () => plain(503, "busy"));

  assert.equal((await http({ method: "GET", url })).status, 503);
});

test("a refused connection is Unavailable and names the origin, not the path", async () => {
  const error = await http({ method: "POST", url: "http://127.0.0.1:1/secret-path?token=abc", body: "x" }).catch(
    (e) => e,
  );

  assert.ok(isFault(error, "Unavailable"));
  assert.match(error.message, /127\.0\.0\.1:1.*ECONNREFUSED/);
  assert.doesNotMatch(error.message, /secret-path|abc/);
});

test("a connection that ends after the request was sent is LostAnswer", async () => {
  const url = await raw((socket) => socket.once("data", () => socket.destroy()));

  await assert.rejects(http({ method: "POST", url, body: "x" }), (e) => isFault(e, "LostAnswer"));
});

test("a timeout after the request was sent is LostAnswer, half an answer too", async () => {
  const silent = await raw(() => {});
  const half = await raw((socket) =>
    socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf")),
  );

  // Time enough for a busy machine to connect and send.
  const timed = { method: "POST", timeoutMs: 2_000 } as const;
  const ends = await Promise.allSettled([http({ ...timed, url: silent }), http({ ...timed, url: half })]);
  for (const end of ends) assert.ok(end.status === "rejected" && isFault(end.reason, "LostAnswer"));
});

test("a timeout before there is a connection is Unavailable, and the request is never sent later", async () => {
  let seen = 0;
  const url = await raw((socket) => socket.on("data", () => seen++));
  const one = undiciHttp({ connections: 1 });
  const first = one({ method: "GET", url, timeoutMs: 2_000 }).catch((e: Fault) => e.code);

  const queued = await one({ method: "POST", url, body: "x", timeoutMs: 30 }).catch((e: Fault) => e.code);

  assert.equal(queued, "Unavailable");
  assert.equal(await first, "LostAnswer");
  await one.close();
  assert.equal(seen, 1);
});

test("an abort by the caller ends the exchange at once", async () => {
  const stop = new AbortController();
  const url = await raw((socket) => socket.once("data", () => stop.abort()));

  await assert.rejects(http({ method: "PUT", url, signal: stop.signal }), (e) => isFault(e, "LostAnswer"));
  await assert.rejects(http({ method: "PUT", url, signal: AbortSignal.abort() }), (e) => isFault(e, "Unavailable"));
});

test("an answer above the bound is refused", async () => {
  const url = await serve(async () => plain(200, "x".repeat(MAX_ANSWER_BYTES + 1)));

  await assert.rejects(http({ method: "GET", url }), /larger than 16777216 bytes/);
});

test("a smaller bound on answers can be set", async () => {
  const url = await serve(async () => plain(200, "x".repeat(101)));
  const small = undiciHttp({ maxAnswerBytes: 100 });
  closers.push(() => small.close());

  await assert.rejects(small({ method: "GET", url }), /larger than 100 bytes/);
});

test("a strange certificate is refused with its reason, but where any is taken", async () => {
  const url = await serve(async () => plain(200, "here"), { tls: await selfSigned("127.0.0.1") });
  const anyone = undiciHttp({ anyCertificate: true });
  closers.push(() => anyone.close());

  await assert.rejects(
    http({ method: "GET", url }),
    (e) => isFault(e, "Unavailable") && (e.cause as { code?: string }).code === "DEPTH_ZERO_SELF_SIGNED_CERT",
  );
  assert.equal((await anyone({ method: "GET", url })).body, "here");
});

test("what is not an http URL, or no header, is Invalid", async () => {
  const header = http({ method: "GET", url: "http://127.0.0.1:1/", headers: { "x-a": "a\r\nb: c" } });

  await assert.rejects(http({ method: "GET", url: "file:///etc/passwd" }), (e) => isFault(e, "Invalid"));
  await assert.rejects(http({ method: "GET", url: "/relative" }), (e) => isFault(e, "Invalid"));
  await assert.rejects(header, (e) => isFault(e, "Invalid"));
});

test("a client that was closed opens no connection, whether it was used before or not", async () => {
  let asked = 0;
  const url = await serve(async () => {
    asked++;
    return plain(200, "");
  });
  for (const uses of [1, 0]) {
    const one = undiciHttp();
    for (let i = 0; i < uses; i++) await one({ method: "GET", url });
    await one.close();
    await assert.rejects(one({ method: "GET", url }), (error) => isFault(error, "Unavailable"));
  }
  assert.equal(asked, 1);
});
