/** Bytes that nobody meant, in numbers: `TFTP_FUZZ` sets how many inputs (10^6 take about a minute), `TFTP_FUZZ_SEED` which. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Random, seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { memoryFiles } from "../files/memory.ts";
import type { OpenDatagrams, Peer } from "./datagrams.ts";
import { decode, encode, type Packet } from "./packet.ts";
import { serveTftp } from "./server.ts";
import { fetchFile, LossyNetwork } from "./testing.ts";

const INPUTS = Number(process.env.TFTP_FUZZ ?? 5_000);
const SEED = Number(process.env.TFTP_FUZZ_SEED ?? 1);

/** What clients really send, to be bent: requests of the firmware named in the tests beside, answers, and the shapes of old bugs. */
const CORPUS: readonly Uint8Array[] = [
  "\x00\x01shimx64.efi\0octet\0tsize\x000\0blksize\x001468\0windowsize\x004\0",
  "\x00\x01undionly.kpxe\0octet\0blksize\x001432\0tsize\x000\0",
  "\x00\x01/a\0netascii\0",
  "\x00\x01..\\..\\a\0octet\0",
  "\x00\x02a\0octet\0",
  "\x00\x03\x00\x01data",
  "\x00\x04\x00\x00",
  "\x00\x04\x00\x01",
  "\x00\x05\x00\x08User aborted the transfer\0",
  "\x00\x06blksize\x008\0",
  "\x00\x01a\0octet\0windowsize\x0065535\0blksize\x0065464\0timeout\x00255\0",
  "\x00\x01a\0octet\0blksize\x00-1\0tsize\x0099999999999999999999\0",
].map((text) => Buffer.from(text, "latin1"));

function bent(random: Random): Uint8Array {
  const kind = random.int(8);
  if (kind === 0) return Buffer.from(random.bytes(random.int(64)));
  const bytes = Buffer.from(CORPUS[random.int(CORPUS.length)]!);
  if (kind === 1) return bytes;
  if (kind === 2) return bytes.subarray(0, random.int(bytes.length + 1));
  if (kind === 3) return Buffer.concat([bytes, random.bytes(random.int(16))]);
  if (kind === 4) return Buffer.concat([bytes, CORPUS[random.int(CORPUS.length)]!]);
  if (kind === 5) return encode({ op: "ack", block: random.int(0x10000) });
  for (let i = 0; i <= random.int(4); i++) bytes[random.int(bytes.length)] = random.int(256);
  return bytes;
}

test("N8 whatever bytes arrive, they are read as a packet or refused with a RangeError, and read the same again", () => {
  const random = seededRandom(SEED);
  for (let i = 0; i < INPUTS; i++) {
    const bytes = bent(random);
    let packet: Packet;
    try {
      packet = decode(bytes);
    } catch (error) {
      assert.ok(error instanceof RangeError, `input ${i}: ${String(error)}`);
      continue;
    }
    // An option acknowledgement of nothing is too short to be read.
    if (packet.op === "oack" && packet.options.length === 0) continue;
    assert.deepEqual(decode(encode(packet)), packet, `input ${i}`);
  }
});

for (const singlePort of [false, true]) {
  test(`N8 whatever arrives at ${singlePort ? "a single port" : "any port"}, the server answers the next client and keeps nothing`, async () => {
    const random = seededRandom(SEED);
    const clock = new VirtualClock();
    const network = new LossyNetwork(clock, () => [0]);
    const servers = new Set<number>([69]);
    // Every port that the server opens is a target.
    const datagrams: OpenDatagrams = async (bind, receive) => {
      const socket = await network.datagrams(bind, receive);
      servers.add(socket.port);
      return {
        ...socket,
        close() {
          servers.delete(socket.port);
          return socket.close();
        },
      };
    };
    const address = "192.0.2.1";
    const files = memoryFiles({ a: random.bytes(3_000), "shimx64.efi": random.bytes(50_000) });
    const server = await serveTftp({
      files,
      clock,
      address,
      datagrams,
      singlePort,
      maxTransfers: 16,
      maxPerAddress: 4,
    });
    const clients = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        network.datagrams({ address: `192.0.2.${100 + (i % 6)}`, port: 2000 + i }, () => {}),
      ),
    );

    for (let i = 0; i < INPUTS; i++) {
      const ports = [...servers];
      const to: Peer = { address, port: ports[random.int(ports.length)]! };
      clients[random.int(clients.length)]!.send(bent(random), to);
      if (i % 40 === 0) await clock.run(random.int(600));
      assert.ok(server.active <= 16 && servers.size <= 17, `input ${i}: ${server.active} transfers`);
    }
    await clock.run(5 * 60_000);
    assert.deepEqual([server.active, clock.pending, servers.size], [0, 0, 1]);

    const fetching = fetchFile({
      datagrams: network.datagrams,
      clock,
      from: { address: "192.0.2.200", port: 0 },
      server: { address, port: 69 },
      name: "shimx64.efi",
      options: { blksize: 1468, windowsize: 4 },
    });
    let done = false;
    const fetched = fetching.finally(() => {
      done = true;
    });
    await clock.run(60_000, () => done);
    assert.equal((await fetched).is, "complete");
    await server.close();
  });
}
