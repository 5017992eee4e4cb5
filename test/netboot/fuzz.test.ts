/**
 * Bytes that nobody meant: each test takes `FUZZ_RUNS` inputs (a million of each take less than a minute together), from seed
 * `FUZZ_SEED`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { quietLog } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { clientOf } from "../../src/netboot/dhcp/client.ts";
import type { Receive } from "../../src/netboot/dhcp/socket.ts";
import { Rack, SENDS, say, US } from "../../src/netboot/dhcp/testing.ts";
import { serveDhcp } from "../../src/netboot/dhcp/udp.ts";
import { encode } from "../../src/netboot/dhcp/wire/encode.ts";
import { parseIpv4 } from "../../src/netboot/dhcp/wire/ipv4.ts";
import { Malformed } from "../../src/netboot/dhcp/wire/malformed.ts";
import { decode, type Message } from "../../src/netboot/dhcp/wire/message.ts";
import { memoryFiles } from "../../src/netboot/files/memory.ts";
import type { OpenDatagrams, Peer } from "../../src/netboot/tftp/datagrams.ts";
import * as tftp from "../../src/netboot/tftp/packet.ts";
import { serveTftp } from "../../src/netboot/tftp/server.ts";
import { Bent, corpus } from "./bent.ts";
import { heapBytes } from "./heap.ts";

const INPUTS = Number(process.env.FUZZ_RUNS ?? 5_000);
const SEED = Number(process.env.FUZZ_SEED ?? 1);

/** What a server may hold more at the end than after its first inputs. */
const GROWTH_BYTES = 4 * 1024 * 1024;

const DHCP = corpus("dhcp", 300);
const TFTP = corpus("tftp");

test("N8 whatever bytes arrive, DHCP reads a message or refuses them as malformed, and writes what it read", () => {
  const bent = new Bent(DHCP, SEED);
  for (let i = 0; i < INPUTS; i++) {
    let message: Message;
    try {
      message = decode(bent.next());
    } catch (error) {
      assert.ok(error instanceof Malformed, `input ${i}: ${String(error)}`);
      continue;
    }
    clientOf(message);
    const { bytes } = encode(message, 1472);
    assert.ok(bytes.length <= 1472 && bytes.length >= 300, `input ${i}`);
    const again = decode(bytes);
    assert.ok(again.xid === message.xid && again.chaddr.length === message.chaddr.length, `input ${i}`);
  }
});

test("N8 whatever arrives at its ports, the DHCP server keeps no more than its pool and answers the next client", async () => {
  const rack = new Rack({ reservations: [{ mac: "52:54:00:00:00:01", address: "10.0.0.50" }] });
  const ports: Receive[] = [];
  let sent = 0;
  const face = await serveDhcp(rack.server, parseIpv4(US), {
    open: async (_, port, receive) => {
      ports.push(receive);
      return {
        port,
        send: async (bytes) => {
          sent++;
          assert.ok(bytes.length <= 1472 && bytes[0] === 2);
        },
        close: async () => {},
      };
    },
    log: quietLog,
  });
  const bent = new Bent(DHCP, SEED);
  const from = { address: 0, port: 68 };
  let before = 0;
  for (let i = 0; i < INPUTS; i++) {
    // The server keeps what it is given until it has answered.
    ports[i & 7 ? 0 : 1]!(Buffer.from(bent.next()), from);
    if (i % 100 !== 0) continue;
    await new Promise(setImmediate);
    rack.events.length = 0;
    rack.now += 1000;
    assert.ok(rack.store.leases.size <= 21, `input ${i}: ${rack.store.leases.size} leases`);
    if (i === Math.floor(INPUTS / 1000) * 100) before = heapBytes();
  }
  await new Promise(setImmediate);
  assert.ok(sent > INPUTS / 20, `${sent} answers`);
  assert.ok(heapBytes() - before < GROWTH_BYTES, "it grows");
  rack.now += 24 * 3_600_000;
  sent = 0;
  ports[0]!(encode(say("discover", { mac: "52:54:00:00:00:99", sends: SENDS.biosPxe })).bytes, from);
  await face.close();
  assert.equal(sent, 1);
  assert.equal(face.counts.failed, 0);
});

test("N8 whatever bytes arrive, TFTP reads a packet or refuses them with a RangeError, and writes the same again", () => {
  const bent = new Bent(TFTP, SEED);
  for (let i = 0; i < INPUTS; i++) {
    let packet: tftp.Packet;
    try {
      packet = tftp.decode(bent.next());
    } catch (error) {
      assert.ok(error instanceof RangeError, `input ${i}: ${String(error)}`);
      continue;
    }
    // An option acknowledgement of nothing is too short to be read.
    if (packet.op === "oack" && packet.options.length === 0) continue;
    const once = tftp.encode(packet);
    assert.ok(Buffer.compare(tftp.encode(tftp.decode(once)), once) === 0, `input ${i}`);
  }
});

for (const singlePort of [false, true])
  test(`N8 whatever arrives at ${singlePort ? "a single port" : "any port"}, the TFTP server keeps nothing and answers the next client`, async () => {
    const clock = new VirtualClock();
    const address = "192.0.2.1";
    /** Every port that the server has open. */
    const open = new Map<number, (bytes: Uint8Array, from: Peer) => void>();
    let nextPort = 49_152;
    let sent: { bytes: Uint8Array; from: number; to: Peer }[] = [];
    const datagrams: OpenDatagrams = async (bind, receive) => {
      const port = bind.port === 0 ? nextPort++ : bind.port;
      open.set(port, receive);
      return {
        port,
        send: (bytes, to) => void sent.push({ bytes, from: port, to }),
        close: async () => void open.delete(port),
      };
    };
    const files = memoryFiles({ a: Buffer.alloc(3_000, 1), "shimx64.efi": Buffer.alloc(50_000, 2) });
    const limits = { maxTransfers: 16, maxPerAddress: 4 };
    const server = await serveTftp({ files, clock, address, datagrams, singlePort, ...limits });

    const bent = new Bent(TFTP, SEED);
    const most = INPUTS / 2;
    let answers = 0;
    let before = 0;
    for (let i = 0; i < most; i++) {
      const ports = [...open.values()];
      const client = { address: `192.0.2.${100 + bent.int(6)}`, port: 2000 + bent.int(2) };
      ports[bent.int(ports.length)]!(Buffer.from(bent.next()), client);
      if (i % 40 !== 0) continue;
      await clock.run(bent.int(600));
      answers += sent.length;
      sent = [];
      assert.ok(server.active <= 16 && open.size <= 17, `input ${i}: ${server.active} transfers`);
      if (i === Math.floor(most / 400) * 40) before = heapBytes();
    }
    await clock.run(5 * 60_000);
    assert.deepEqual([server.active, clock.pending, open.size], [0, 0, 1]);
    assert.ok(answers > most / 20, `${answers} answers`);
    assert.ok(heapBytes() - before < GROWTH_BYTES, "it grows");

    sent = [];
    const read = tftp.encode({ op: "read", name: "shimx64.efi", mode: "octet", options: [["blksize", "1468"]] });
    open.get(69)!(read, { address: "192.0.2.200", port: 2000 });
    await clock.run(500);
    assert.deepEqual(tftp.decode(sent[0]!.bytes), { op: "oack", options: [["blksize", "1468"]] });
    await server.close();
  });
