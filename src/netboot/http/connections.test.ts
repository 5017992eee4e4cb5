import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { plain } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { Connections } from "./connections.ts";

/** A server that knows hosts by a header of theirs, and a client of it. */
async function stage(t: TestContext, limits: { most?: number; perAddress?: number; perHost?: number }) {
  let now = 0;
  const connections = new Connections(
    { most: 100, perAddress: 100, perHost: 100, ...limits },
    { monotonic: () => now },
  );
  const came = new EventEmitter();
  const server = await serveHttp(async () => plain(200, "ok"), {
    guard(watched) {
      connections.guard(watched);
      watched.on("connection", () => came.emit("one"));
    },
    stream(request) {
      const host = request.headers["x-host"];
      if (typeof host === "string") connections.isOf(request, host);
      return false;
    },
  });
  const open: Socket[] = [];
  t.after(() => {
    for (const socket of open) socket.destroy();
    return server.close();
  });
  const says = async (text: string, localAddress = "127.0.0.1"): Promise<Socket> => {
    const seen = once(came, "one");
    const socket = connect({ port: server.port, host: "127.0.0.1", localAddress }).on("error", () => {});
    open.push(socket);
    await Promise.all([seen, once(socket, "connect")]);
    if (text !== "") socket.write(text);
    return socket;
  };
  return {
    connections,
    later: (ms: number) => {
      now += ms;
    },
    /** A connection that says so much and waits. */
    says,
    /** As `says`, once it is answered. */
    async asks(host?: string): Promise<Socket> {
      const socket = await says(`GET / HTTP/1.1\r\nhost: x\r\n${host === undefined ? "" : `x-host: ${host}\r\n`}\r\n`);
      await Promise.race([once(socket, "data"), once(socket, "close")]);
      return socket;
    },
  };
}

test("hosts behind one address do not shut each other out: each is counted by itself", async (t) => {
  const { asks, connections } = await stage(t, { perAddress: 2 });
  for (let i = 0; i < 20; i++) assert.equal((await asks(`h${i}`)).closed, false);
  assert.equal(connections.size, 20);
});

test("of the clients of one address that nobody knows, the slowest gives way to a new one, and hosts keep their place", async (t) => {
  const stand = await stage(t, { perAddress: 3 });
  const host = await stand.asks("h");
  const trickling = await stand.says("GET / HTTP/1.1\r\n");
  const answered = await stand.asks();
  const silent = await stand.says("");
  stand.later(60_000);
  const closed = once(silent, "close");
  const legitimate = stand.asks();
  await closed;
  assert.equal((await legitimate).closed, false);
  assert.deepEqual([host.closed, trickling.closed, answered.closed], [false, false, false]);
});

test("where all are new, the newest is closed; one host has so many connections, whatever it does", async (t) => {
  const stand = await stage(t, { perAddress: 2, perHost: 3 });
  await stand.says("");
  await stand.says("");
  const refused = await stand.says("");
  if (!refused.closed) await once(refused, "close");
  for (let i = 0; i < 10; i++) {
    stand.later(3_000);
    await stand.asks("h");
  }
  assert.equal(stand.connections.size, 4);
});

test("in all there are so many, and nothing of those that ended is kept", async (t) => {
  const stand = await stage(t, { most: 4 });
  for (let i = 0; i < 12; i++) {
    stand.later(3_000);
    await stand.says("GET");
  }
  assert.equal(stand.connections.size, 4);
});

/** The first of these to be closed, by a reset too. */
function firstClosed(sockets: readonly Socket[]): Promise<Socket> {
  return Promise.race(
    sockets.map((socket) => new Promise<Socket>((resolve) => socket.once("close", () => resolve(socket)))),
  );
}

test("who fills its own share of connections takes none from other addresses", async (t) => {
  const stand = await stage(t, { perAddress: 2 });
  const other = await stand.says("", "127.0.0.2");
  const own = [await stand.says("GET"), await stand.says("GET")];
  stand.later(60_000);
  const closed = firstClosed([other, ...own]);
  await stand.says("GET");
  assert.ok(own.includes(await closed));
  assert.equal(stand.connections.size, 3);
});

test("where there are too many in all, hosts keep their place", async (t) => {
  const stand = await stage(t, { most: 2 });
  const host = await stand.asks("h");
  stand.later(60_000);
  const unknown = await stand.says(
    "GET / HTTP/1.1\r\nx-much: more than the host has said in its time\r\nx-more: and more",
  );
  stand.later(3_000);
  const closed = firstClosed([host, unknown]);
  await stand.says("GET");
  assert.equal(await closed, unknown);
});
