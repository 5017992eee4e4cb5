import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { isFault } from "./fault.ts";
import { type HttpHandler, plain } from "./http.ts";
import { undiciHttp } from "./http-client.ts";
import { serveHttp } from "./http-server.ts";
import { selfSigned } from "./testing.ts";

const http = undiciHttp();
after(() => http.close());

test("what a handler throws is answered 500 and not reported to the client", async () => {
  const server = await serveHttp(() => Promise.reject(new Error("password is hunter2")));

  const answer = await http({ method: "GET", url: server.url });

  assert.deepEqual([answer.status, answer.body], [500, "internal error\n"]);
  await server.close();
});

test("a body above the bound is answered 413, with a length and without one", async () => {
  const server = await serveHttp(async () => plain(200, "ok"), { maxBodyBytes: 10 });

  assert.equal((await http({ method: "POST", url: server.url, body: "x".repeat(11) })).status, 413);
  assert.equal((await http({ method: "POST", url: server.url, body: "x".repeat(10) })).status, 200);
  const chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nxxxxxxxxxxx\r\n";
  assert.match(await firstLine(server.port, chunked), / 413 /);
  await server.close();
});

test("a method, host or target that is not understood is refused before the handler", async () => {
  const server = await serveHttp(async () => plain(200, "ok"));

  assert.match(await firstLine(server.port, "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n"), / 405 /);
  assert.match(await firstLine(server.port, "GET / HTTP/1.1\r\nHost: a/b@c\r\n\r\n"), / 400 /);
  assert.match(await firstLine(server.port, "GET http://else/ HTTP/1.1\r\nHost: a\r\n\r\n"), / 400 /);
  await server.close();
});

test("the handler sees the URL as the client meant it, and where it came from", async () => {
  const server = await serveHttp(async (request) => plain(200, `${request.url} ${request.remote}`));

  const answer = await http({ method: "GET", url: `http://localhost:${server.port}/a?b=c` });

  assert.match(answer.body, new RegExp(`^http://localhost:${server.port}/a\\?b=c .*127.0.0.1$`));
  await server.close();
});

test("an answer that is passed on from another server is one that clients take: it has one length", async () => {
  const other = await serveHttp(async () => plain(200, "from elsewhere"));
  const server = await serveHttp(() => http({ method: "GET", url: other.url }));

  const answer = await http({ method: "GET", url: server.url });

  assert.deepEqual([answer.body, answer.headers["content-length"]], ["from elsewhere", "14"]);
  await server.close();
  await other.close();
});

test("HEAD has the headers of the answer and no body", async () => {
  const server = await serveHttp(async () => plain(200, "12345"));

  const answer = await http({ method: "HEAD", url: server.url });

  assert.deepEqual([answer.body, answer.headers["content-length"]], ["", "5"]);
  await server.close();
});

test("the handler's signal is aborted when the client disconnects", async () => {
  const gone = Promise.withResolvers<void>();
  const server = await serveHttp(({ signal }) => {
    signal?.addEventListener("abort", () => gone.resolve());
    return gone.promise.then(() => plain(200, ""));
  });

  await assert.rejects(http({ method: "GET", url: server.url, timeoutMs: 30 }), (e) => isFault(e, "LostAnswer"));
  await gone.promise;
  await server.close();
});

test("closing ends idle keep-alive connections and frees the port", async () => {
  const server = await serveHttp(async () => plain(200, "ok"));
  await http({ method: "GET", url: server.url });

  await server.close();

  await assert.rejects(http({ method: "GET", url: server.url }), (e) => isFault(e, "Unavailable"));
  const again = await serveHttp(async () => plain(200, "ok"), { port: server.port });
  await again.close();
});

test("a port in use is an error of the start", async () => {
  const server = await serveHttp(async () => plain(200, "ok"));

  await assert.rejects(
    serveHttp(async () => plain(200, ""), { port: server.port }),
    /EADDRINUSE/,
  );
  await server.close();
});

test("TLS: a certificate is verified against the given CA and refused, unsent, without it", async () => {
  const { key, cert } = await selfSigned("localhost");
  let served = 0;
  const server = await serveHttp(async () => plain(200, `tls ${++served}`), { tls: { key, cert } });
  const trusting = undiciHttp({ ca: cert });
  const url = `https://localhost:${server.port}`;

  await assert.rejects(http({ method: "GET", url }), (e) => isFault(e, "Unavailable"));
  assert.equal((await trusting({ method: "GET", url })).body, "tls 1");
  await trusting.close();
  await server.close();
});

test("TLS: a renewed certificate is what new connections are shown", async () => {
  const [first, second] = [await selfSigned("localhost"), await selfSigned("localhost")];
  const server = await serveHttp(async () => plain(200, "tls"), { tls: first });
  const url = `https://localhost:${server.port}`;
  const trusting = undiciHttp({ ca: second.cert });

  await assert.rejects(trusting({ method: "GET", url }), (e) => isFault(e, "Unavailable"));
  server.renew(second);
  assert.equal((await trusting({ method: "GET", url })).body, "tls");
  await trusting.close();
  await server.close();
});

/** Sends bytes as they are and reads the status line of the answer. */
function firstLine(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.once("error", reject);
    socket.once("data", (data) => {
      socket.destroy();
      resolve(data.toString("latin1").split("\r\n")[0] ?? "");
    });
  });
}

test("a Unix socket is its owner's alone, is taken over from the dead and not from the living", async () => {
  const dir = await mkdtemp(join(tmpdir(), "slipway-socket-"));
  const socket = join(dir, "api.sock");
  await promisify(execFile)(process.execPath, [
    "-e",
    `require("net").createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, "SIGKILL"))`,
  ]).catch(() => {});
  const remotes: unknown[] = [];
  const handler: HttpHandler = async ({ url, remote }) => {
    remotes.push(remote);
    return plain(200, new URL(url).pathname);
  };
  const server = await serveHttp(handler, { socket });
  const local = undiciHttp({ socket });

  assert.equal((await local({ method: "GET", url: "http://localhost/hosts" })).body, "/hosts");
  assert.deepEqual(remotes, [""], "nobody has an address there");
  assert.equal((await stat(socket)).mode & 0o777, 0o600);
  await assert.rejects(
    serveHttp(async () => plain(200, ""), { socket }),
    (e) => isFault(e, "AlreadyExists"),
  );

  await local.close();
  await server.close();
  await rm(dir, { recursive: true });
});

test("connections are limited, in all and for each address, and one on which nothing moves is closed", async () => {
  for (const options of [{ maxConnections: 1 }, { maxPerAddress: 1 }]) {
    const server = await serveHttp(async () => plain(200, "ok"), options);
    const first = connect(server.port, "127.0.0.1");
    await once(first, "connect");
    const second = connect(server.port, "127.0.0.1");
    await once(second.on("error", () => {}).resume(), "close", { signal: AbortSignal.timeout(60_000) });
    first.destroy();
    await server.close();
  }
  const server = await serveHttp(async () => plain(200, "ok"), { idleTimeoutMs: 20 });
  const silent = connect(server.port, "127.0.0.1");
  await once(silent.resume(), "close", { signal: AbortSignal.timeout(60_000) });
  await server.close();
});

test("an address may connect again once a connection of it has ended", async () => {
  const server = await serveHttp(async () => plain(200, "ok"), { maxPerAddress: 1 });
  for (let time = 0; time < 3; time++)
    assert.match(await firstLine(server.port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), / 200 /);
  await server.close();
});

test("of several connections of an address, the end of one makes room for one", async () => {
  const server = await serveHttp(async () => plain(200, "ok"), { maxPerAddress: 2 });
  /** A connection that stays open once it was answered; undefined: it was refused. */
  const open = async (): Promise<Socket | undefined> => {
    const socket = connect(server.port, "127.0.0.1").on("error", () => {});
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const [answer] = await Promise.race([once(socket, "data"), once(socket, "close")]);
    return answer instanceof Buffer ? socket : undefined;
  };
  const [first, second] = [await open(), await open()];
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(await open(), undefined);
  first.destroy();
  // The server may not have seen the end yet.
  let third: Socket | undefined;
  while (third === undefined) third = await open();
  assert.equal(await open(), undefined);
  for (const socket of [second, third]) socket.destroy();
  await server.close();
});

test("a request may be answered as a stream before it reaches the handler", async () => {
  const server = await serveHttp(async () => plain(200, "handled"), {
    stream: ({ url }, response) => {
      if (url === "/stream") response.end("streamed");
      return url === "/stream";
    },
  });

  assert.equal((await http({ method: "GET", url: `${server.url}/stream` })).body, "streamed");
  assert.equal((await http({ method: "GET", url: server.url })).body, "handled");
  await server.close();
});
