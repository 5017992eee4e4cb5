import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog } from "@slipway/base";
import fc from "fast-check";
import type { Endpoint } from "./arrival.ts";
import type { OpenSocket, Receive } from "./socket.ts";
import { openDatagramSocket } from "./socket.ts";
import { Rack, SENDS, say, US } from "./testing.ts";
import { type DhcpFace, serveDhcp } from "./udp.ts";
import { encode } from "./wire/encode.ts";
import { parseIpv4 } from "./wire/ipv4.ts";
import { decode } from "./wire/message.ts";

const FROM: Endpoint = { address: 0, port: 68 };

/** The two ports in memory. */
class Wire {
  readonly receive = new Map<number, Receive>();
  readonly sent: { bytes: Uint8Array; to: Endpoint }[] = [];
  readonly open: OpenSocket;
  refusing = false;
  closed = 0;

  constructor() {
    this.open = async (_, port, receive) => {
      this.receive.set(port, receive);
      return {
        port,
        send: async (bytes, to) => {
          if (this.refusing) throw new Error("ENETUNREACH");
          this.sent.push({ bytes, to });
        },
        close: async () => {
          this.closed += 1;
        },
      };
    };
  }
}

async function faceOf(rack: Rack, wire: Wire): Promise<DhcpFace> {
  return serveDhcp(rack.server, parseIpv4(US), { open: wire.open, log: quietLog });
}

test("N8 a malformed packet, a failed send and a failed lease leave the next client answered", async () => {
  const [rack, wire] = [new Rack(), new Wire()];
  const face = await faceOf(rack, wire);
  const send = (bytes: Uint8Array): void => wire.receive.get(67)!(bytes, FROM);
  const discover = encode(say("discover")).bytes;

  send(new Uint8Array(300));
  wire.refusing = true;
  send(discover);
  await new Promise(setImmediate);
  wire.refusing = false;
  rack.store.failing = true;
  send(encode(say("request", { asks: "10.0.0.100", server: US })).bytes);
  await new Promise(setImmediate);
  rack.store.failing = false;
  send(discover);
  await face.close();

  assert.equal(wire.sent.length, 1);
  assert.deepEqual(face.counts, { received: 4, answered: 1, malformed: 1, dropped: 0, failed: 2 });
  assert.equal(wire.closed, 2);
});

test("N19 what comes to port 4011 is answered from port 4011", async () => {
  const wire = new Wire();
  const face = await faceOf(new Rack(), wire);
  const from = { address: parseIpv4("10.0.0.77"), port: 4011 };
  wire.receive.get(4011)!(encode(say("request", { sends: SENDS.ovmfPxe, ciaddr: "10.0.0.77" })).bytes, from);
  await face.close();
  assert.deepEqual(
    wire.sent.map(({ to }) => to),
    [from],
  );
});

test("N8 more messages than can be worked on are dropped, not kept", async () => {
  const wire = new Wire();
  const stuck = Promise.withResolvers<undefined>();
  const face = await serveDhcp({ answer: () => stuck.promise }, parseIpv4(US), { open: wire.open, log: quietLog });
  const discover = encode(say("discover")).bytes;
  for (let i = 0; i < 5000; i++) wire.receive.get(67)!(discover, FROM);
  stuck.resolve(undefined);
  await face.close();
  assert.equal(face.counts.dropped, 5000 - 4096);
});

test("N8 whatever packets come, the server goes on, and keeps no more than its pool", async () => {
  const rack = new Rack({ reservations: [{ mac: "52:54:00:00:00:01", address: "10.0.0.50" }] });
  const wire = new Wire();
  const face = await faceOf(rack, wire);
  const types = ["discover", "request", "decline", "release", "inform"] as const;
  const seeds = types.flatMap((type) =>
    Object.values(SENDS).map((sends) => encode(say(type, { sends, asks: "10.0.0.103" })).bytes),
  );
  const packet = fc
    .tuple(fc.nat(seeds.length - 1), fc.array(fc.tuple(fc.nat(299), fc.nat(255)), { maxLength: 8 }), fc.boolean())
    .map(([seed, changes, boot]) => {
      const bytes = Uint8Array.from(seeds[seed]!);
      for (const [at, value] of changes) bytes[at] = value;
      return { bytes, port: boot ? 4011 : 67 };
    });
  await fc.assert(
    fc.asyncProperty(fc.array(packet, { minLength: 20, maxLength: 20 }), async (packets) => {
      for (const { bytes, port } of packets) wire.receive.get(port)!(bytes, FROM);
      await new Promise(setImmediate);
      assert.ok(rack.store.leases.size <= 21);
      for (const { bytes } of wire.sent.splice(0)) assert.ok(decode(bytes).op === 2 && bytes.length <= 1472);
      rack.events.length = 0;
      rack.now += 1000;
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 2000) / 20 },
  );
  await face.close();
  assert.equal(face.counts.failed, 0);
});

test("sockets of the operating system: what is sent to the address arrives, with where it came from, and the answer goes back", async () => {
  const loopback = parseIpv4("127.0.0.1");
  const arrived = Promise.withResolvers<{ text: string; from: Endpoint }>();
  const answered = Promise.withResolvers<string>();
  const server = await openDatagramSocket(loopback, 0, (bytes, from) =>
    arrived.resolve({ text: Buffer.from(bytes).toString(), from }),
  );
  const client = await openDatagramSocket(loopback, 0, (bytes) => answered.resolve(Buffer.from(bytes).toString()));
  try {
    await client.send(Buffer.from("question"), { address: loopback, port: server.port });
    const { text, from } = await arrived.promise;
    assert.equal(text, "question");
    assert.deepEqual(from, { address: loopback, port: client.port });
    await server.send(Buffer.from("answer"), from);
    assert.equal(await answered.promise, "answer");
    await assert.rejects(client.send(new Uint8Array(70_000), from), /EMSGSIZE/);
  } finally {
    await Promise.all([server.close(), client.close()]);
  }
});
