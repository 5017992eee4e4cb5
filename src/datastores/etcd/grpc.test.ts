import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { type TestContext, test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { parseEndpoints } from "../endpoint.ts";
import { GrpcConnection, GrpcError } from "./grpc.ts";

type Answer = (stream: ServerHttp2Stream, body: Buffer, headers: IncomingHttpHeaders) => void;

/** A server of unary calls, and a connection to it. */
async function rig(t: TestContext, answer: Answer) {
  const sessions = new Set<ServerHttp2Session>();
  let dialled = 0;
  const server = createServer();
  server.on("session", (session) => {
    dialled++;
    sessions.add(session);
  });
  server.on("stream", (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", () => {});
    stream.on("end", () => answer(stream, Buffer.concat(chunks), headers));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const endpoints = parseEndpoints("etcd", [`http://127.0.0.1:${port}`]);
  const grpc = new GrpcConnection({ endpoints, tls: undefined });
  const clock = new VirtualClock();
  t.after(() => {
    grpc.close();
    for (const session of sessions) session.destroy();
    server.close();
  });
  const giving = new AbortController();
  const call = (text = "ask", metadata: Record<string, string> = {}) =>
    grpc.call("/etcdserverpb.KV/Range", Buffer.from(text), metadata, { clock, ms: 5_000, signal: giving.signal });
  return { call, clock, sessions, dialled: () => dialled };
}

/** A message as the protocol frames it. */
function framed(text: string): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([prefix, Buffer.from(text)]);
}

function ok(stream: ServerHttp2Stream, text: string): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(framed(text));
}

test("a call has its message framed, its metadata beside it, and comes back without its frame; one connection serves all", async (t) => {
  const seen: unknown[] = [];
  const { call, dialled } = await rig(t, (stream, body, headers) => {
    seen.push([headers[":path"], headers["content-type"], headers.te, headers.token, body.toString("latin1")]);
    ok(stream, "answer");
  });
  assert.equal(Buffer.from(await call("ask", { token: "t" })).toString(), "answer");
  assert.deepEqual(seen, [["/etcdserverpb.KV/Range", "application/grpc", "trailers", "t", "\0\0\0\0\u0003ask"]]);
  await call();
  assert.equal(dialled(), 1);
});

test("a status that is not OK is an error with its decoded text, in trailers as in the head; the connection stays", async (t) => {
  let round = 0;
  const { call, dialled } = await rig(t, (stream) => {
    round++;
    if (round === 1)
      return stream.respond({ "grpc-status": "7", "grpc-message": "not%20allowed" }, { endStream: true });
    stream.respond({ ":status": 200 }, { waitForTrailers: true });
    const status = round === 2 ? { "grpc-status": "5", "grpc-message": "100% gone" } : { "grpc-status": "9" };
    stream.on("wantTrailers", () => stream.sendTrailers(status));
    stream.end();
  });
  for (const [code, message] of [
    [7, "not allowed"],
    [5, "100% gone"],
    [9, "no reason given"],
  ] as const)
    await assert.rejects(
      call(),
      (error) => error instanceof GrpcError && error.code === code && error.message === message,
    );
  assert.equal(dialled(), 1);
});

test("B24 a server without an answer is given up in its time, and asked over another connection the next time", async (t) => {
  let isSilent = true;
  let asked = () => {};
  const { call, clock, dialled } = await rig(t, (stream) => {
    asked();
    if (!isSilent) ok(stream, "answer");
  });
  const arrived = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const given = assert.rejects(
    call(),
    (error) => isFault(error, "Unavailable") && /no answer within 5000 ms/.test(error.message),
  );
  await arrived;
  await clock.run(5_000);
  await given;
  isSilent = false;
  assert.equal(Buffer.from(await call()).toString(), "answer");
  assert.equal(dialled(), 2);
});

test("a connection that breaks within a call is no answer; the next call dials again", async (t) => {
  let isBroken = true;
  const { call, sessions, dialled } = await rig(t, (stream) => {
    if (!isBroken) return ok(stream, "answer");
    isBroken = false;
    for (const session of sessions) session.destroy();
  });
  await assert.rejects(call(), (error) => isFault(error, "Unavailable"));
  assert.equal(Buffer.from(await call()).toString(), "answer");
  assert.equal(dialled(), 2);
});

test("an answer that ends without a status is none", async (t) => {
  const { call } = await rig(t, (stream) => {
    stream.respond({ ":status": 200 });
    stream.end(framed("half"));
  });
  await assert.rejects(call(), (error) => isFault(error, "Unavailable") && /the connection broke/.test(error.message));
});
