import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { sendFullSegments } from "./full-segments.ts";

/** A client that asks for segments of 536 bytes, and prints how much it was sent. */
const CLIENT = `
use Socket;
socket(my $tcp, AF_INET, SOCK_STREAM, 0) or die; setsockopt($tcp, 6, 2, pack("i", 536)) or die;
connect($tcp, pack_sockaddr_in($ARGV[0], inet_aton("127.0.0.1"))) or die;
my $all = 0; while (my $got = sysread($tcp, my $bytes, 65536)) { $all += $got } print $all;
`;

const mayNot =
  spawnSync("perl", [
    "-e",
    'use Socket; socket(my $t, AF_INET, SOCK_STREAM, 0); exit !setsockopt($t, 6, 19, pack("i", 1))',
  ]).status !== 0;

/** The size that a connection of that client has then, or why not; and what the client got of 100,000 bytes. */
async function sent(): Promise<{ size: unknown; got: string }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = spawn("perl", ["-e", CLIENT, String((server.address() as AddressInfo).port)]);
  try {
    let got = "";
    client.stdout.on("data", (text: Buffer) => {
      got += text.toString();
    });
    const [socket] = (await once(server, "connection")) as [Socket];
    const size = await sendFullSegments(socket).catch((error: unknown) => error);
    socket.end(Buffer.alloc(100_000));
    await once(client, "close");
    return { size, got };
  } finally {
    client.kill();
    server.close();
  }
}

test("a client that named small segments is sent full ones, and gets all of it", {
  skip: mayNot && "needs perl and CAP_NET_ADMIN",
}, async () => {
  const { size, got } = await sent();
  // With or without timestamps, which take twelve bytes.
  assert.ok(size === 1460 || size === 1448, String(size));
  assert.equal(got, "100000");
});

test("where the kernel refuses, the reason is named and the client gets all of it nevertheless", {
  skip: !mayNot && "this process may",
}, async () => {
  const { size, got } = await sent();
  assert.ok(isFault(size), String(size));
  assert.equal(got, "100000");
});
