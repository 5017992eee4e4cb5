import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { openDoor } from "./door.ts";

test("what is said at one end arrives at the other, through a port and a Unix socket, and so does the end", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-door-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    void text(socket).then((said) => socket.end(`seen ${said}`));
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const path = join(folder, "socket");
  const inside = await openDoor({ path }, { host: "127.0.0.1", port: (server.address() as AddressInfo).port });
  const outside = await openDoor({ host: "127.0.0.1", port: 0 }, { path });
  t.after(() => Promise.all([inside.close(), outside.close()]));

  const socket = connect({ host: "127.0.0.1", port: outside.port!, allowHalfOpen: true });
  socket.end("hello");
  assert.equal(await text(socket), "seen hello");
});

test("with nobody behind it a connection is closed", async (t) => {
  const door = await openDoor({ host: "127.0.0.1", port: 0 }, { path: "/nowhere/socket" });
  t.after(() => door.close());
  const socket = connect({ host: "127.0.0.1", port: door.port! });
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("close", resolve));
});

test("a closed door ends what went through it", async (t) => {
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const door = await openDoor(
    { host: "127.0.0.1", port: 0 },
    { host: "127.0.0.1", port: (server.address() as AddressInfo).port },
  );
  const socket = connect({ host: "127.0.0.1", port: door.port! });
  socket.on("error", () => {});
  await new Promise((resolve) => server.once("connection", resolve));
  await door.close();
  await new Promise((resolve) => socket.once("close", resolve));
});
