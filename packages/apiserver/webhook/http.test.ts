import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { test } from "node:test";
import { systemClock } from "@slipway/base";
import { webhookSockets } from "./http.ts";

test("connections to webhooks, which are kept for their next calls, are closed with the server that calls", async (t) => {
  const connections: Socket[] = [];
  const server = createServer((request, response) => void request.resume().on("end", () => response.end("{}")));
  server.keepAliveTimeout = 60_000;
  server.on("connection", (socket) => connections.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of connections) socket.destroy();
  });
  const sockets = webhookSockets(systemClock);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const post = { url, ca: undefined, address: undefined, body: "{}", timeoutMs: 60_000, signal: undefined };
  assert.equal((await sockets.post(post)).status, 200);
  const closed = once(connections[0]!, "close", { signal: AbortSignal.timeout(30_000) });
  await sockets.close();
  await closed;
});
