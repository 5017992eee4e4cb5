import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { quietLog, seededRandom } from "@slipway/base";
import type { FileSource, OpenFile } from "../files/source.ts";
import { ChunkBuffers } from "./chunk-buffers.ts";
import { answerFile } from "./file-answer.ts";

const CONTENT = Buffer.from(seededRandom(6).bytes(3_000_001));
const COLD_FROM = 1_000_000;
const BIG = 1_000_000_000;

let filledTo = 0;
let closed = 0;
const named: Record<string, Pick<OpenFile, "size"> & Required<Pick<OpenFile, "fill">>> = {
  /** Its first part is there, the rest is waited for. */
  image: {
    size: CONTENT.length,
    fill(into, offset) {
      const filled = CONTENT.copy(into, 0, offset, offset + into.length);
      return offset < COLD_FROM ? filled : new Promise((resolve) => setImmediate(resolve, filled));
    },
  },
  shrunk: { size: BIG, fill: (into, offset) => (offset === 0 ? into.length : 0) },
  damaged: {
    size: BIG,
    fill(into, offset) {
      if (offset === 0) return into.length;
      return Promise.reject(new Error("EIO"));
    },
  },
  big: {
    size: BIG,
    fill(into, offset) {
      filledTo = offset + into.length;
      return into.length;
    },
  },
};
const files: FileSource = {
  async open(name) {
    const file = named[name];
    const read = () => Promise.reject(new Error("a file that fills memory is not read in another way"));
    return file && { version: "v", read, close: async () => void closed++, ...file };
  },
};
const warned: unknown[] = [];
const log = { ...quietLog, warn: (fields: object) => void warned.push(fields) };
const buffers = new ChunkBuffers();
let answered: Promise<void> = Promise.resolve();
const server = createServer((request, response) => {
  answered = answerFile(files, request, response, { log, buffers });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
after(() => server.close());
const { port } = server.address() as AddressInfo;

async function send(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const [response] = (await once(get({ host: "127.0.0.1", port, path, agent: false, headers }), "response")) as [
    IncomingMessage,
  ];
  return response;
}

async function fetched(path: string, headers?: Record<string, string>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of await send(path, headers)) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

test("a file is given whole, and in parts, whether its bytes are there or are waited for", async () => {
  assert.ok((await fetched("/image")).equals(CONTENT));
  for (const [first, last] of [
    [0, 0],
    [65_535, 65_536],
    [100_000, 999_999],
    [262_144, 2_999_999],
    [3_000_000, 3_000_000],
  ] as const)
    assert.ok(
      (await fetched("/image", { range: `bytes=${first}-${last}` })).equals(CONTENT.subarray(first, last + 1)),
      `${first}-${last}`,
    );
});

test("clients that fetch together, some of them slowly, get the file's bytes and no other's", async () => {
  const slowly = async (): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for await (const part of await send("/image")) {
      parts.push(part as Buffer);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return Buffer.concat(parts);
  };
  const all = await Promise.all(Array.from({ length: 40 }, (_, client) => (client % 2 ? slowly() : fetched("/image"))));
  for (const content of all) assert.ok(content.equals(CONTENT));
});

test("a file that has become shorter, or can't be read on, breaks the connection and is no whole", async () => {
  warned.length = 0;
  for (const name of ["shrunk", "damaged"]) {
    await assert.rejects(fetched(`/${name}`), { code: "ECONNRESET" });
    await answered;
  }
  assert.deepEqual(warned, [{ reason: "file: 0 of 196608 bytes at 65536" }, { reason: "file: EIO" }]);
});

test("a client that reads nothing is given no more than buffers hold, and its file is closed when it goes", {
  timeout: 30_000,
}, async () => {
  const before = closed;
  warned.length = 0;
  const response = await send("/big");
  for (let last = -1; last !== filledTo; ) {
    last = filledTo;
    // Turns enough for many pieces, if any were taken.
    for (let turns = 0; turns < 200; turns++) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(filledTo < 64 * 2 ** 20, `filled up to ${filledTo}`);
  assert.equal(closed, before);

  response.destroy();
  await answered;
  assert.deepEqual(warned, []);
  assert.equal(closed, before + 1);
});

test("while one client takes a large file, another one's small request is answered", async () => {
  const large = await send("/big");
  large.resume();
  assert.equal((await fetched("/image", { range: "bytes=0-9" })).length, 10);
  assert.equal(large.complete, false);
  large.destroy();
});
