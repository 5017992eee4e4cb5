import assert from "node:assert/strict";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import fc from "fast-check";
import { createHttpTransport } from "./http-transport.ts";
import { LineReader, LineTooLong } from "./ndjson.ts";
import type { WatchEvent, WatchStream } from "./transport.ts";

async function serving(listener: RequestListener, use: (url: string, server: Server) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test("a request carries its method, query, body and credentials; the answer is JSON", async () => {
  await serving(
    (req, res) => {
      let body = "";
      req.on("data", (chunk) => {
        body += chunk;
      });
      req.on("end", () => {
        res.setHeader("content-type", "application/json");
        const { authorization, "content-type": type, "user-agent": agent } = req.headers;
        res.end(JSON.stringify({ method: req.method, url: req.url, authorization, type, agent, body }));
      });
    },
    async (url) => {
      const transport = createHttpTransport(
        { server: `${url}/prefix/`, authorization: async () => "Bearer t" },
        { userAgent: "test/1" },
      );
      const answer = await transport.request({
        method: "PATCH",
        path: "/api/v1/nodes/a",
        query: { fieldManager: "x y" },
        contentType: "application/merge-patch+json",
        body: { a: 1 },
      });
      assert.deepEqual(answer.body, {
        method: "PATCH",
        url: "/prefix/api/v1/nodes/a?fieldManager=x+y",
        authorization: "Bearer t",
        type: "application/merge-patch+json",
        agent: "test/1",
        body: '{"a":1}',
      });
      await transport.close();
    },
  );
});

test("a refused credential is renewed once", async () => {
  const seen: (string | undefined)[] = [];
  await serving(
    (req, res) => {
      seen.push(req.headers.authorization);
      res.statusCode = req.headers.authorization === "Bearer new" ? 200 : 401;
      res.end("text");
    },
    async (url) => {
      const authorization = async (fresh: boolean): Promise<string> => (fresh ? "Bearer new" : "Bearer old");
      const transport = createHttpTransport({ server: url, authorization });
      assert.deepEqual((await transport.request({ method: "GET", path: "/" })).status, 200);
      assert.deepEqual(seen, ["Bearer old", "Bearer new"]);
      const stubborn = createHttpTransport({ server: url, authorization: async () => "Bearer old" });
      assert.equal((await stubborn.request({ method: "GET", path: "/" })).status, 401);
      await Promise.all([transport.close(), stubborn.close()]);
    },
  );
});

test("no connection is Unavailable; a connection that breaks after the request is LostAnswer", async () => {
  let port = 0;
  await serving(
    (req) => req.socket.destroy(),
    async (url) => {
      port = Number(new URL(url).port);
      const transport = createHttpTransport({ server: url });
      await assert.rejects(transport.request({ method: "POST", path: "/", body: {} }), { code: "LostAnswer" });
      await transport.close();
    },
  );
  const transport = createHttpTransport({ server: `http://127.0.0.1:${port}` });
  await assert.rejects(transport.request({ method: "POST", path: "/", body: {} }), { code: "Unavailable" });
  await assert.rejects(transport.watch({ method: "GET", path: "/" }), { code: "Unavailable" });
  await transport.close();
});

test("an abort rejects with its reason at once", async () => {
  await serving(
    () => {},
    async (url) => {
      const transport = createHttpTransport({ server: url });
      const stop = new AbortController();
      const request = transport.request({ method: "GET", path: "/", signal: stop.signal });
      setImmediate(() => stop.abort(new Error("enough")));
      await assert.rejects(request, /enough/);
      await transport.close();
    },
  );
});

const event = (n: number): WatchEvent => ({ type: "ADDED", object: { n } });

async function openWatch(url: string) {
  const transport = createHttpTransport({ server: url });
  const stream = (await transport.watch({ method: "GET", path: "/watch" })) as WatchStream;
  return { transport, stream };
}

test("everything received before a broken connection is delivered, then the break is reported", async () => {
  await serving(
    (req, res) => {
      for (let n = 0; n < 5000; n++) res.write(`${JSON.stringify(event(n))}\n`);
      res.write('{"type":"ADDED","obj', () => setImmediate(() => req.socket.destroy()));
    },
    async (url) => {
      const { transport, stream } = await openWatch(url);
      const seen: WatchEvent[] = [];
      const read = async (): Promise<void> => {
        for await (const one of stream) {
          seen.push(one);
          if (seen.length === 1) await new Promise((resolve) => setImmediate(resolve));
        }
      };
      await assert.rejects(read(), { code: "LostAnswer" });
      assert.equal(seen.length, 5000);
      await transport.close();
    },
  );
});

test("a watch that the server ends, ends; leaving it early closes the connection", async () => {
  let closed = (): void => {};
  const gone = new Promise<void>((resolve) => {
    closed = resolve;
  });
  let first = true;
  await serving(
    (req, res) => {
      res.write(`${JSON.stringify(event(1))}\n`);
      if (first) res.end(`${JSON.stringify(event(2))}\n`);
      else req.socket.once("close", closed);
      first = false;
    },
    async (url) => {
      const { transport, stream } = await openWatch(url);
      const seen: WatchEvent[] = [];
      for await (const one of stream) seen.push(one);
      assert.deepEqual(seen, [event(1), event(2)]);
      const again = (await transport.watch({ method: "GET", path: "/watch" })) as WatchStream;
      for await (const one of again) {
        assert.deepEqual(one, event(1));
        break;
      }
      await gone;
      await transport.close();
    },
  );
});

test("a refused watch comes back as the answer; a stream that is not JSON is a fault", async () => {
  let refuse = true;
  await serving(
    (_, res) => {
      if (refuse) res.statusCode = 410;
      res.setHeader("content-type", "application/json");
      res.end(refuse ? '{"kind":"Status"}' : "<html>\n");
    },
    async (url) => {
      const { transport, stream } = await openWatch(url);
      assert.deepEqual((stream as unknown as { status: number; body: object }).body, { kind: "Status" });
      refuse = false;
      const html = (await transport.watch({ method: "GET", path: "/watch" })) as WatchStream;
      const error = await html[Symbol.asyncIterator]()
        .next()
        .catch((e: unknown) => e);
      assert.ok(error instanceof Fault && /not JSON/.test(error.message));
      await transport.close();
    },
  );
});

test("lines are the same however the bytes are cut", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.array(fc.integer({ min: 1, max: 9 })), (texts, cuts) => {
      const values = texts.map((t) => JSON.stringify(t));
      const bytes = Buffer.from(values.map((v) => `${v}\n`).join(""));
      const reader = new LineReader(1e6);
      const lines: string[] = [];
      let at = 0;
      for (const size of [...cuts, bytes.length]) {
        lines.push(...reader.push(bytes.subarray(at, at + size)));
        at += size;
      }
      assert.deepEqual(lines, values);
    }),
  );
});

test("a line beyond the limit is refused, not held", () => {
  const reader = new LineReader(10);
  reader.push(Buffer.from("12345"));
  assert.throws(() => reader.push(Buffer.from("678901")), LineTooLong);
});

test("after one request that waited in vain, no other is put on a socket from before", async () => {
  const dead = new Set<unknown>();
  const seen = new Set<unknown>();
  await serving(
    (req, res) => {
      seen.add(req.socket);
      if (!dead.has(req.socket)) res.end("fine");
    },
    async (url) => {
      const transport = createHttpTransport({ server: url });
      const get = (signal?: AbortSignal) => transport.request({ method: "GET", path: "/", ...(signal && { signal }) });
      await Promise.all([get(), get(), get()]);
      assert.equal(seen.size, 3);
      for (const socket of seen) dead.add(socket);
      await assert.rejects(get(AbortSignal.timeout(50)), { name: "TimeoutError" });
      assert.equal((await get(AbortSignal.timeout(60_000))).body, "fine");
      await transport.close();
    },
  );
});

test("a request that its caller does not want any more says nothing of the other sockets: they are used again", async () => {
  const seen = new Set<unknown>();
  const asked = Promise.withResolvers<void>();
  await serving(
    (req, res) => {
      seen.add(req.socket);
      if (req.url === "/silent") asked.resolve();
      else res.end("fine");
    },
    async (url) => {
      const transport = createHttpTransport({ server: url });
      const get = (path: string, signal?: AbortSignal) =>
        transport.request({ method: "GET", path, ...(signal && { signal }) });
      await Promise.all([get("/"), get("/"), get("/")]);
      const caller = new AbortController();
      const silent = get("/silent", caller.signal);
      await asked.promise;
      caller.abort();
      await assert.rejects(silent, { name: "AbortError" });
      await get("/");
      assert.equal(seen.size, 3);
      await transport.close();
    },
  );
});

test("one request after the other uses one socket, a DELETE with a body, too", async () => {
  const sockets = new Set<unknown>();
  await serving(
    (req, res) => {
      sockets.add(req.socket);
      req.resume().on("end", () => res.setHeader("content-type", "application/json").end("{}"));
    },
    async (url) => {
      const transport = createHttpTransport({ server: url }, { connections: 1 });
      for (const method of ["POST", "DELETE", "GET"] as const)
        await transport.request({ method, path: "/", ...(method !== "GET" && { body: { kind: "DeleteOptions" } }) });
      assert.equal(sockets.size, 1);
      await transport.close();
    },
  );
});

test("a transport that was closed opens no connection, whether it was used before or not", async () => {
  let asked = 0;
  await serving(
    (_, res) => {
      asked++;
      res.end("{}");
    },
    async (url) => {
      for (const uses of [1, 0]) {
        const transport = createHttpTransport({ server: url });
        for (let i = 0; i < uses; i++) await transport.request({ method: "GET", path: "/version" });
        await transport.close();
        await assert.rejects(transport.request({ method: "GET", path: "/version" }), (error) => error instanceof Fault);
      }
    },
  );
  assert.equal(asked, 1);
});
