import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { LibvirtConnection } from "./connection.ts";
import { CALL, EVENT, FAILED, Frames, GOES_ON, OK, type Packet, packetBytes, REPLY, STREAM } from "./frames.ts";
import { openLibvirt } from "./libvirt.ts";
import * as remote from "./procedures.ts";
import { AUTH_LIST, CAPABILITIES, CLOSE, NODE_INFO, OPEN, remoteError, UPLOAD_VOLUME, VERSION } from "./procedures.ts";
import { encode, i32, list, text, u64 } from "./xdr.ts";

type Answer = (packet: Packet, send: (part: Partial<Packet>) => void, socket: Socket) => void;

/** A daemon that accepts connections; `answer` says what it does with every other call. */
async function daemon(t: TestContext, answer: Answer, ways: readonly number[] = [0]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-rpc-"));
  const path = join(folder, "socket");
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const frames = new Frames();
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      for (const packet of frames.push(bytes)) {
        const send = (part: Partial<Packet>): void =>
          void socket.write(packetBytes({ ...packet, type: REPLY, status: OK, body: Buffer.alloc(0), ...part }));
        if (packet.procedure === AUTH_LIST.number) send({ body: encode(list(i32, 9), ways) });
        else if (packet.procedure === OPEN.number || packet.procedure === CLOSE.number) send({});
        else answer(packet, send, socket);
      }
    });
  }).listen(path);
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  });
  return path;
}

const ERROR = {
  ...{ code: 42, domain: 10, message: "no domain with matching name 'a'", level: 2, dom: undefined, net: undefined },
  ...{ str1: undefined, str2: undefined, str3: undefined, int1: 0, int2: 0 },
};

test("answers find their calls by serial, in whatever order they come, with events between them", async (t) => {
  const held: (() => void)[] = [];
  const socket = await daemon(t, ({ procedure }, send) => {
    const body = procedure === VERSION.number ? encode(u64, 7n) : encode(text, "<capabilities/>");
    held.unshift(() => send({ body }));
    if (held.length < 2) return;
    send({ type: EVENT, procedure: 318, serial: 0, body: Buffer.from("none") });
    send({ serial: 999, body });
    for (const one of held) one();
  });
  const events: number[] = [];
  const connection = await LibvirtConnection.open({ socket, clock, onEvent: (procedure) => events.push(procedure) });
  t.after(() => connection.close());
  const answers = await Promise.all([connection.call(VERSION, undefined), connection.call(CAPABILITIES, undefined)]);
  assert.deepEqual(answers, [{ value: 7n }, { value: "<capabilities/>" }]);
  assert.deepEqual(events, [318]);
});

test("libvirt's error is a fault with its number and its words", async (t) => {
  const socket = await daemon(t, (_, send) => send({ status: FAILED, body: encode(remoteError, ERROR) }));
  const connection = await LibvirtConnection.open({ socket, clock });
  t.after(() => connection.close());
  await assert.rejects(connection.call(VERSION, undefined), {
    code: "NotFound",
    message: "libvirt: version of the hypervisor: no domain with matching name 'a' (error 42)",
    details: { code: 42, domain: 10, level: 2 },
  });
});

test("a call whose connection ends may have had its effect; the next one has had none", async (t) => {
  const socket = await daemon(t, (_, __, peer) => peer.destroy());
  const connection = await LibvirtConnection.open({ socket, clock });
  await assert.rejects(connection.call(VERSION, undefined), { code: "LostAnswer" });
  await connection.ended;
  await assert.rejects(connection.call(VERSION, undefined), { code: "Unavailable" });
});

test("an answer that can't be read ends the call alone, a packet that can't be one the connection", async (t) => {
  const socket = await daemon(t, ({ procedure }, send, peer) => {
    if (procedure === NODE_INFO.number) send({ body: Buffer.alloc(3) });
    else peer.write(Buffer.from("ffffffff", "hex"));
  });
  const connection = await LibvirtConnection.open({ socket, clock });
  await assert.rejects(connection.call(NODE_INFO, undefined), { code: "Invalid" });
  await assert.rejects(connection.call(VERSION, undefined), /a packet of 4294967295 bytes/);
  await connection.ended;
});

test("a pool is built before it is started, a network set to start by itself, and volumes are looked for anew", async (t) => {
  const asked: number[] = [];
  const socket = await daemon(t, ({ procedure }, send) => {
    asked.push(procedure);
    const zeros = { [remote.REGISTER_EVENT.number]: 4, [remote.LIST_VOLUMES.number]: 8 }[procedure] ?? 0;
    send({ body: Buffer.alloc(zeros) });
  });
  const libvirt = await openLibvirt({ socket, clock });
  t.after(() => libvirt.close());
  assert.deepEqual(asked.splice(0), [remote.REGISTER_EVENT.number, remote.REGISTER_EVENT.number]);
  const ref = { name: "p", uuid: "0".repeat(32) };
  await libvirt.startPool(ref);
  await libvirt.startNetwork(ref);
  assert.deepEqual(await libvirt.volumes(ref), []);
  assert.deepEqual(asked, [
    ...[remote.AUTOSTART_POOL.number, remote.BUILD_POOL.number, remote.START_POOL.number],
    ...[remote.AUTOSTART_NETWORK.number, remote.START_NETWORK.number],
    ...[remote.REFRESH_POOL.number, remote.LIST_VOLUMES.number],
  ]);
});

test("no answer in time is a lost one", async (t) => {
  const virtual = new VirtualClock();
  const socket = await daemon(t, () => {});
  const connection = await LibvirtConnection.open({ socket, clock: virtual, callMs: 60_000 });
  t.after(() => connection.close());
  const lost = assert.rejects(connection.call(VERSION, undefined), {
    code: "LostAnswer",
    message: /no answer in time/,
  });
  await virtual.run(60_000);
  await lost;
});

test("a daemon that wants a password, and a socket without a daemon, say what to do", async (t) => {
  const socket = await daemon(t, () => {}, [1]);
  await assert.rejects(LibvirtConnection.open({ socket, clock }), { code: "BadCredentials" });
  await assert.rejects(LibvirtConnection.open({ socket: "/nowhere/at-all", clock }), {
    code: "Unavailable",
    remedy: /--libvirt/,
  });
});

const volume = { volume: { pool: "p", name: "v", key: "k" }, offset: 0n, length: 0n, flags: 0 };

test("an upload arrives whole, in pieces that libvirt takes, and ends with its answer", async (t) => {
  const got: Buffer[] = [];
  const socket = await daemon(t, ({ type, status, body }, send) => {
    if (type === CALL) send({});
    else if (status === GOES_ON) got.push(body);
    else send({ type: STREAM });
  });
  const connection = await LibvirtConnection.open({ socket, clock });
  t.after(() => connection.close());
  const sent = Buffer.alloc(1_000_000, "slipway");
  await connection.upload(
    UPLOAD_VOLUME,
    volume,
    (async function* () {
      yield sent.subarray(0, 300_000);
      yield sent.subarray(300_000);
    })(),
  );
  assert.ok(got.every(({ length }) => length <= 262_120));
  assert.ok(Buffer.concat(got).equals(sent));
});

test("an upload that libvirt refuses on the way, or whose bytes fail, rejects", async (t) => {
  const aborted: number[] = [];
  let refuse = true;
  const socket = await daemon(t, ({ type, status }, send) => {
    if (type === CALL) return send({});
    if (status === FAILED) aborted.push(status);
    else if (refuse)
      send({ type: STREAM, status: FAILED, body: encode(remoteError, { ...ERROR, message: "no space" }) });
  });
  const connection = await LibvirtConnection.open({ socket, clock });
  t.after(() => connection.close());
  const endless = async function* (): AsyncGenerator<Buffer> {
    for (;;) {
      yield Buffer.alloc(200_000);
      await clock.sleep(1);
    }
  };
  await assert.rejects(connection.upload(UPLOAD_VOLUME, volume, endless()), /no space/);
  refuse = false;
  const broken = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.alloc(10);
    throw new Error("the disk is broken");
  };
  await assert.rejects(connection.upload(UPLOAD_VOLUME, volume, broken()), /the disk is broken/);
  assert.equal(aborted.length >= 1, true);
});
