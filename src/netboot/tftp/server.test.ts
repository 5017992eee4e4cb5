import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import { memoryFiles } from "../files/memory.ts";
import type { FileSource } from "../files/source.ts";
import type { Datagrams, Peer } from "./datagrams.ts";
import { decode, encode, type Option, type Packet } from "./packet.ts";
import { type EndedRequest, serveTftp, type TftpOptions } from "./server.ts";
import { type Fate, type Fetch, type Fetched, fetchFile, LossyNetwork } from "./testing.ts";

const SERVER: Peer = { address: "192.0.2.1", port: 69 };
const CLIENT: Peer = { address: "192.0.2.50", port: 0 };
const MINUTE = 60_000;
const CONTENT = Buffer.from(seededRandom(7).bytes(100_000));
const FILES = memoryFiles({ "boot.img": CONTENT, "exact.img": CONTENT.subarray(0, 2 * 512), empty: new Uint8Array() });

interface World {
  clock: VirtualClock;
  network: LossyNetwork;
  ended: EndedRequest[];
  fetch(wanted: Partial<Fetch>): Promise<Fetched>;
  /** A socket of a client that the test plays itself. */
  client(port?: number, address?: string): Promise<Datagrams & { got: Packet[]; from: Peer[] }>;
  /** What the server must not keep. */
  close(): Promise<void>;
  active(): number;
}

async function world(fate?: Fate, options: Partial<TftpOptions> = {}): Promise<World> {
  const clock = new VirtualClock();
  const network = new LossyNetwork(clock, fate);
  const ended: EndedRequest[] = [];
  const server = await serveTftp({
    files: FILES,
    clock,
    address: SERVER.address,
    datagrams: network.datagrams,
    onEnd: (request) => ended.push(request),
    ...options,
  });
  return {
    clock,
    network,
    ended,
    async fetch(wanted) {
      let result: Fetched | undefined;
      const defaults = { datagrams: network.datagrams, clock, from: CLIENT, server: SERVER, name: "boot.img" };
      const done = fetchFile({ ...defaults, ...wanted }).then((fetched) => {
        result = fetched;
      });
      assert.ok(
        await clock.run(60 * MINUTE, () => result !== undefined),
        "the client neither got the file nor gave up",
      );
      await done;
      return result!;
    },
    async client(port = 2070, address = CLIENT.address) {
      const got: Packet[] = [];
      const from: Peer[] = [];
      const socket = await network.datagrams({ address, port }, (bytes, peer) => {
        got.push(decode(bytes));
        from.push(peer);
      });
      return { ...socket, got, from };
    },
    active: () => server.active,
    async close() {
      await server.close();
    },
  };
}

function ask(name: string, ...options: Option[]): Uint8Array {
  return encode({ op: "read", name, mode: "octet", options });
}

const ack = (block: number): Uint8Array => encode({ op: "ack", block });

test("N21 a file arrives whole with any block size and window, over ports of their own or a single one", async () => {
  for (const singlePort of [false, true]) {
    for (const options of [
      {},
      { blksize: 1468, windowsize: 4 },
      { blksize: 1432, tsize: 0 },
      { windowsize: 64, tsize: 0 },
    ]) {
      const w = await world(undefined, { singlePort });

      const fetched = await w.fetch({ options });

      assert.ok(fetched.is === "complete" && fetched.bytes.equals(CONTENT));
      await w.clock.run(1);
      assert.deepEqual([w.active(), w.clock.pending, w.network.open], [0, 0, 1]);
      assert.deepEqual(
        w.ended.map((e) => [e.name, e.outcome.is, e.bytes]),
        [["boot.img", "delivered", CONTENT.length]],
      );
      await w.close();
    }
  }
});

test("N21 the last block is shorter than the others, even if that leaves it empty", async () => {
  const w = await world();

  for (const [name, size] of [
    ["exact.img", 1024],
    ["empty", 0],
  ] as const) {
    const fetched = await w.fetch({ name, options: { tsize: 0 } });
    assert.ok(fetched.is === "complete" && fetched.size === size);
    assert.deepEqual(fetched.options, [["tsize", String(size)]]);
  }
});

test("N21 block numbers go on from 0 after 65535", async () => {
  const big = Buffer.from(seededRandom(8).bytes(70_000 * 8 + 3));
  const w = await world(() => [0], { files: memoryFiles({ big }) });

  const fetched = await w.fetch({ name: "big", options: { blksize: 8, windowsize: 64 } });

  assert.ok(fetched.is === "complete" && fetched.bytes.equals(big));
});

test("N21 a size probe with ERROR 8 is no failure, and the transfer after it runs", async () => {
  const w = await world();
  const client = await w.client();

  client.send(ask("boot.img", ["tsize", "0"], ["blksize", "1468"], ["windowsize", "4"]), SERVER);
  await w.clock.run(10);
  assert.deepEqual(client.got, [
    {
      op: "oack",
      options: [
        ["blksize", "1468"],
        ["tsize", "100000"],
        ["windowsize", "4"],
      ],
    },
  ]);
  client.send(encode({ op: "error", code: 8, message: "User aborted the transfer" }), client.from[0]!);
  await w.clock.run(10);
  assert.deepEqual(
    w.ended.map((e) => e.outcome),
    [{ is: "probed" }],
  );
  assert.equal(w.active(), 0);
  await client.close();

  const fetched = await w.fetch({ from: { ...CLIENT, port: 2070 }, options: { blksize: 1468, windowsize: 4 } });
  assert.equal(fetched.is, "complete");
});

/** Per packet: lost, delivered once or twice, each copy after a delay of its own. */
const fates = fc.record({
  seed: fc.nat(),
  loss: fc.constantFrom(0, 0, 0.02, 0.1, 0.4, 1),
  twice: fc.constantFrom(0, 0.05, 0.5),
  spreadMs: fc.constantFrom(0, 3, 400),
});

test("N21 whatever is lost, doubled or overtaken, exactly the file arrives or the client gives up; nothing is left behind", async () => {
  const options = fc.record(
    { blksize: fc.constantFrom(512, 1468), windowsize: fc.constantFrom(1, 2, 4, 16, 64), tsize: fc.constant(0) },
    { requiredKeys: [] },
  );
  const runs = Number(process.env.TFTP_PROPERTY_RUNS ?? 60);
  let complete = 0;
  await fc.assert(
    fc.asyncProperty(fates, options, fc.boolean(), fc.nat(30_000), async (net, asked, singlePort, size) => {
      const random = seededRandom(net.seed);
      const delay = (): number => 1 + random.int(net.spreadMs + 1);
      const fate: Fate = () =>
        random.fraction() < net.loss ? [] : random.fraction() < net.twice ? [delay(), delay()] : [delay()];
      const content = CONTENT.subarray(0, size);
      const w = await world(fate, { singlePort, files: memoryFiles({ file: content }) });

      const fetched = await w.fetch({ name: "file", options: asked });

      if (fetched.is === "complete") {
        complete++;
        assert.ok(fetched.bytes.equals(content));
      } else assert.equal(fetched.is, "timeout");
      // Doubles and detours alone stop nobody.
      if (net.loss === 0) assert.equal(fetched.is, "complete");
      await w.clock.run(MINUTE);
      assert.deepEqual([w.active(), w.clock.pending, w.network.open], [0, 0, 1]);
      await w.close();
      assert.equal(w.network.open, 0);
    }),
    { numRuns: runs },
  );
  assert.ok(complete > runs / 3, `only ${complete} of ${runs} arrived`);
});

test("N21 doubling every packet does not double the traffic: a repeated acknowledgement is never answered", async () => {
  const count = async (copies: number): Promise<number> => {
    const w = await world(() => Array.from({ length: copies }, () => 1));
    const fetched = await w.fetch({});
    assert.equal(fetched.is, "complete");
    return w.network.sent;
  };

  assert.equal(await count(2), await count(1));
});

test("N21 an acknowledgement inside a window takes the transfer back to the block after it", async () => {
  const w = await world();
  const client = await w.client();
  client.send(ask("boot.img", ["windowsize", "4"]), SERVER);
  await w.clock.run(5);
  const server = client.from[0]!;
  client.send(ack(0), server);
  await w.clock.run(5);
  client.send(ack(2), server);
  await w.clock.run(5);
  client.send(ack(2), server);
  await w.clock.run(5);

  const blocks = client.got.flatMap((packet) => (packet.op === "data" ? [packet.block] : []));
  assert.deepEqual(blocks, [1, 2, 3, 4, 3, 4, 5, 6]);
});

test("a silent client is sent five times what it has not acknowledged, ever slower, and is then given up", async () => {
  const w = await world();
  const client = await w.client();
  client.send(ask("boot.img"), SERVER);

  for (const [ms, packets] of [
    [500, 1],
    [1_000, 2],
    [2_000, 3],
    [4_000, 4],
    [8_000, 5],
  ] as const) {
    await w.clock.run(ms);
    assert.equal(client.got.length, packets);
  }
  await w.clock.run(17_000);
  assert.equal(client.got.length, 5);
  assert.deepEqual(
    w.ended.map((e) => e.outcome),
    [{ is: "timeout" }],
  );
  assert.equal(w.active(), 0);
});

test("the wait that a client agreed on is kept to", async () => {
  const w = await world();
  const client = await w.client();
  client.send(ask("boot.img", ["timeout", "3"]), SERVER);

  await w.clock.run(2_900);
  assert.equal(client.got.length, 1);
  await w.clock.run(3_200);
  assert.equal(client.got.length, 3);
});

test("a packet of a stranger is answered with error 5 and does not disturb the transfer", async () => {
  const w = await world();
  const client = await w.client();
  const stranger = await w.client(2071, "192.0.2.66");
  client.send(ask("boot.img"), SERVER);
  await w.clock.run(5);
  stranger.send(ack(1), client.from[0]!);
  stranger.send(encode({ op: "error", code: 0, message: "stop" }), client.from[0]!);
  await w.clock.run(5);
  assert.deepEqual(
    stranger.got.map((packet) => packet.op === "error" && packet.code),
    [5],
  );

  client.send(ack(1), client.from[0]!);
  await w.clock.run(5);
  assert.deepEqual(
    client.got.map((packet) => packet.op === "data" && packet.block),
    [1, 2],
  );
});

test("a request that is repeated at once is one transfer; asked again later, or for something else, it begins anew", async () => {
  for (const singlePort of [false, true]) {
    const w = await world(undefined, { singlePort });
    const client = await w.client();
    client.send(ask("boot.img"), SERVER);
    client.send(ask("boot.img"), SERVER);
    await w.clock.run(5);
    assert.deepEqual([client.got.length, w.active()], [1, 1]);

    await w.clock.run(1_500);
    client.send(ask("boot.img"), SERVER);
    await w.clock.run(5);
    assert.deepEqual(
      w.ended.map((e) => e.outcome.is),
      ["dropped"],
    );
    client.send(ask("exact.img"), SERVER);
    await w.clock.run(5);
    assert.deepEqual([w.ended.length, w.active()], [2, 1]);
    await w.close();
  }
});

test("refusals carry the code that fits, and at once", async () => {
  const w = await world();
  const request = (op: "read" | "write", name: string, mode = "octet"): Packet => ({ op, name, mode, options: [] });
  const refusals: [Packet, number, RegExp][] = [
    [request("read", "absent"), 1, /not found/],
    [request("read", "../etc/passwd"), 2, /no such name/],
    [request("read", "boot.img", "netascii"), 4, /octet \(binary\)/],
    [request("write", "boot.img"), 2, /only gives/],
    [{ op: "ack", block: 1 }, 5, /no transfer/],
  ];
  for (const [i, [packet, code, message]] of refusals.entries()) {
    const client = await w.client(3000 + i);
    client.send(encode(packet), SERVER);
    await w.clock.run(2);
    const [answer] = client.got;
    assert.ok(answer?.op === "error" && answer.code === code && message.test(answer.message), JSON.stringify(answer));
  }
  assert.equal(w.active(), 0);
});

test("names are found with leading slashes, backslashes and in any case; the mode is read in any case", async () => {
  const w = await world(undefined, { files: memoryFiles({ "efi/boot/bootx64.efi": CONTENT }) });

  for (const name of ["/efi/boot/bootx64.efi", "\\EFI\\BOOT\\BOOTX64.EFI"])
    assert.equal((await w.fetch({ name, mode: "OCTET" })).is, "complete");
});

test("one address, and all together, hold no more transfers than allowed; a place that is freed is given again", async () => {
  const w = await world(undefined, { maxTransfers: 3, maxPerAddress: 2 });
  const clients = [];
  for (const [port, address] of [
    [1, "a"],
    [2, "a"],
    [3, "a"],
    [4, "b"],
    [5, "c"],
  ] as const)
    clients.push(await w.client(port, address));
  for (const client of clients) client.send(ask("boot.img"), SERVER);
  await w.clock.run(5);
  assert.deepEqual(
    clients.map((client) => client.got.length),
    [1, 1, 0, 1, 0],
  );

  clients[0]!.send(encode({ op: "error", code: 0, message: "gone" }), clients[0]!.from[0]!);
  await w.clock.run(5);
  clients[4]!.send(ask("boot.img"), SERVER);
  await w.clock.run(5);
  assert.equal(clients[4]!.got.length, 1);
  assert.deepEqual(
    w.ended.map((e) => e.outcome),
    [
      { is: "unanswered", why: "too many transfers" },
      { is: "unanswered", why: "too many transfers" },
      { is: "aborted", code: 0, message: "gone" },
    ],
  );
});

test("made-up clients keep nobody from a file: a transfer that nobody confirmed gives way, one that was confirmed stays", async () => {
  const w = await world(undefined, { maxTransfers: 20, maxPerAddress: 20 });
  const slow = await w.client(1, "slow");
  slow.send(ask("boot.img"), SERVER);
  await w.clock.run(5);
  slow.send(ack(1), slow.from[0]!);
  for (let i = 0; i < 400; i++) {
    (await w.client(100 + i, `made-up-${i % 7}`)).send(ask("boot.img"), SERVER);
    await w.clock.run(10);
  }
  assert.ok(w.active() <= 20, `${w.active()} transfers`);
  assert.equal((await w.fetch({})).is, "complete");
  assert.ok(!w.ended.some(({ client, outcome }) => client.address === "slow" && outcome.is === "dropped"));
  await w.close();
});

test("a file that fails while it is read ends its transfer with an error, and is closed", async () => {
  let closed = 0;
  const file = { size: 2000, version: "", read: async () => new Uint8Array(3), close: async () => void closed++ };
  const failing: FileSource = {
    open: async (name) => {
      if (name === "worse") throw new Error("EIO");
      return file;
    },
  };
  const w = await world(undefined, { files: failing });

  for (const name of ["shrunk", "worse"]) {
    const fetched = await w.fetch({ name });
    assert.deepEqual(fetched, { is: "error", code: 0, message: "the file can't be given now" });
  }
  assert.equal(closed, 1);
  assert.deepEqual(
    w.ended.map((e) => e.outcome.is),
    ["failed", "failed"],
  );
});

test("closing ends every transfer, also one whose file is still being opened", async () => {
  const opening: (() => void)[] = [];
  const slow: FileSource = {
    async open(name, asker) {
      if (name === "empty") await new Promise<void>((resolve) => opening.push(resolve));
      return FILES.open(name, asker);
    },
  };
  const w = await world(undefined, { files: slow });
  const [one, two] = [await w.client(1), await w.client(2)];
  one.send(ask("boot.img"), SERVER);
  two.send(ask("empty"), SERVER);
  await w.clock.run(5);
  const closed = w.close();
  for (const open of opening) open();
  await closed;

  assert.deepEqual([w.active(), w.clock.pending], [0, 0]);
  assert.deepEqual([one.got.length, two.got.length, w.network.open], [1, 0, 2]);
});

test("limits that make no sense are refused before anything is bound", async () => {
  await assert.rejects(world(undefined, { limits: { blockBytes: 100 } }), /blocks of 100 bytes/);
  await assert.rejects(world(undefined, { limits: { window: 0 } }), /windows of 0 blocks/);
});
