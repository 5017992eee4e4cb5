import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { TLSSocket } from "node:tls";
import { Fault, quietLog } from "@slipway/base";
import { GrubSegments } from "./grub-segments.ts";

const LARGE = 12 * 1024 * 1024;
const GRUB = "GRUB 2.12-9+deb13u4";

/** A request as far as it is looked at. The address goes in by its own property: a socket that is not connected has none. */
function asked(agent: string, { from = "192.0.2.50", socket = new Socket() } = {}): IncomingMessage {
  Object.defineProperty(socket, "remoteAddress", { value: from });
  return { headers: { "user-agent": agent }, socket } as IncomingMessage;
}

test("large files for GRUB on our own link go out in full segments, and nothing else does", async () => {
  const enlarged: Socket[] = [];
  const segments = new GrubSegments({
    isOnLink: (address) => address === "192.0.2.50",
    enlarge: async (socket) => void enlarged.push(socket),
  });
  const wanted = asked(GRUB);
  for (const [request, bytes] of [
    [wanted, LARGE],
    [asked(GRUB), 4096],
    [asked("iPXE/1.21.1"), LARGE],
    [asked("curl/8 GRUB 2.12"), LARGE],
    [asked(GRUB, { from: "198.51.100.7" }), LARGE],
    [asked(GRUB, { socket: new TLSSocket(new Socket()) }), LARGE],
  ] as const)
    await segments.prepare(request, bytes);
  assert.deepEqual(enlarged, [wanted.socket]);
});

test("a kernel that refuses is asked once, and that is logged once", async () => {
  let tries = 0;
  const logged: object[] = [];
  const segments = new GrubSegments({
    isOnLink: () => true,
    async enlarge() {
      tries++;
      throw new Fault("Unavailable", "TCP segments", "TCP_REPAIR: EPERM");
    },
    log: { ...quietLog, info: (fields) => void logged.push(fields) },
  });
  await segments.prepare(asked(GRUB), LARGE);
  await segments.prepare(asked(GRUB), LARGE);
  assert.equal(tries, 1);
  assert.deepEqual(logged, [{ reason: "TCP segments: TCP_REPAIR: EPERM" }]);
});

test("of those that ask at one time, no more than eight are served so; the others do not wait", async () => {
  const done = Promise.withResolvers<void>();
  let running = 0;
  const segments = new GrubSegments({
    isOnLink: () => true,
    enlarge() {
      running++;
      return done.promise;
    },
  });
  const eight = Array.from({ length: 8 }, () => segments.prepare(asked(GRUB), LARGE));
  await segments.prepare(asked(GRUB), LARGE);
  assert.equal(running, 8);
  done.resolve();
  await Promise.all(eight);
  await segments.prepare(asked(GRUB), LARGE);
  assert.equal(running, 9);
});

test("a client that went away in between says nothing of the next one", async () => {
  let tries = 0;
  const segments = new GrubSegments({
    isOnLink: () => true,
    async enlarge(socket) {
      tries++;
      socket.destroy();
      throw new Fault("Unavailable", "TCP segments", "TCP_REPAIR: EINVAL");
    },
  });
  await segments.prepare(asked(GRUB), LARGE);
  await segments.prepare(asked(GRUB), LARGE);
  assert.equal(tries, 2);
});
