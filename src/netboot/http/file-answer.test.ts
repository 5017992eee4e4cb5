import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { quietLog, seededRandom } from "@slipway/base";
import { fileOf, memoryFiles } from "../files/memory.ts";
import { type FileSource, firstOf } from "../files/source.ts";
import { CHUNK_BYTES } from "./chunk-buffers.ts";
import { answerFile } from "./file-answer.ts";

const CONTENT = Buffer.from(seededRandom(5).bytes(700_000));
const BIG = 1_000_000_000;
const read: number[] = [];
let closed = 0;
const special: FileSource = {
  async open(name) {
    if (name === "broken") throw new Error("EIO");
    if (name !== "big" && name !== "shrunk") return undefined;
    return {
      size: BIG,
      version: "v",
      async read(offset, length) {
        read.push(offset);
        if (name === "shrunk" && offset > 0) return new Uint8Array();
        return new Uint8Array(length);
      },
      close: async () => void closed++,
    };
  },
};
const files = firstOf(memoryFiles({ "boot/bootx64.efi": CONTENT, empty: new Uint8Array() }), special);
let answered: Promise<void> = Promise.resolve();
let answering: ServerResponse | undefined;
const warned: unknown[] = [];
const log = { ...quietLog, warn: (fields: object) => void warned.push(fields) };
const server = createServer((request, response) => {
  answering = response;
  answered = answerFile(files, request, response, { log });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
after(() => server.close());
const { port } = server.address() as AddressInfo;

interface Options {
  method?: string;
  headers?: Record<string, string>;
}

/** The path goes out as it is written: `fetch` would tidy it up. */
async function send(path: string, options: Options = {}): Promise<IncomingMessage> {
  const request = httpRequest({ host: "127.0.0.1", port, path, agent: false, ...options });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response;
}

async function get(
  path: string,
  options: Options = {},
): Promise<{ status: number; headers: IncomingMessage["headers"]; body: Buffer }> {
  const response = await send(path, options);
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return { status: response.statusCode!, headers: response.headers, body: Buffer.concat(parts) };
}

test("a file is given whole, with its size, a validator and the type that UEFI looks for", async () => {
  const { status, headers, body } = await get("/boot/bootx64.efi?mac=1");

  assert.equal(status, 200);
  assert.ok(body.equals(CONTENT));
  assert.equal(headers["content-type"], "application/efi");
  assert.equal(headers["accept-ranges"], "bytes");
  assert.equal((await get("/empty")).headers["content-length"], "0");
});

test("HEAD shows what GET would, without the bytes", async () => {
  const { status, headers, body } = await get("/boot/bootx64.efi", { method: "HEAD" });

  assert.deepEqual([status, headers["content-length"], body.length], [200, "700000", 0]);
});

test("N24 a range is answered 206 with its place, across chunks too; one beyond the end 416", async () => {
  for (const [range, first, end] of [
    ["bytes=10-19", 10, 20],
    ["bytes=262000-600000", 262_000, 600_001],
    ["bytes=-5", 699_995, 700_000],
  ] as const) {
    const { status, headers, body } = await get("/boot/bootx64.efi", { headers: { range } });
    assert.equal(status, 206);
    assert.equal(headers["content-range"], `bytes ${first}-${end - 1}/700000`);
    assert.ok(body.equals(CONTENT.subarray(first, end)));
  }
  const beyond = await get("/boot/bootx64.efi", { headers: { range: "bytes=700000-" } });
  assert.deepEqual([beyond.status, beyond.headers["content-range"]], [416, "bytes */700000"]);
});

test("a part is only given of the content that the client has the rest of", async () => {
  const etag = (await get("/boot/bootx64.efi", { method: "HEAD" })).headers.etag!;
  const status = async (headers: Record<string, string>) => (await get("/boot/bootx64.efi", { headers })).status;

  assert.equal(await status({ range: "bytes=0-1", "if-range": etag }), 206);
  assert.equal(await status({ range: "bytes=0-1", "if-range": '"other"' }), 200);
  assert.equal(await status({ "if-none-match": `"other", W/${etag}` }), 304);
  assert.equal(await status({ "if-none-match": '"other"' }), 200);
});

test("N2 only declared paths are served, whatever the path is made of", async () => {
  for (const path of [
    "/",
    "/boot",
    "/boot/",
    "/../package.json",
    "/%2e%2e/package.json",
    "/..%5cpackage.json",
    "/%00",
    "/%zz",
    "/package.json",
  ])
    assert.equal((await get(path)).status, 404, path);
  const refused = await get("/boot/bootx64.efi", { method: "PUT" });
  assert.deepEqual([refused.status, refused.headers.allow], [405, "GET, HEAD"]);
});

test("a file that can't be opened is a 500; one that ends early breaks the connection and is no whole", async () => {
  warned.length = 0;
  assert.equal((await get("/broken")).status, 500);
  await assert.rejects(get("/shrunk"), { code: "ECONNRESET" });
  assert.deepEqual(warned, [{ reason: "file: EIO" }, { reason: "file: 0 of 262144 bytes at 262144" }]);
});

test("a client that reads nothing makes us read no more than buffers hold, and the file is closed when it goes", {
  timeout: 30_000,
}, async () => {
  await answered;
  const before = closed;
  read.length = 0;
  const response = await send("/big");
  // Long enough to read all of it, if nothing held us back.
  for (let turns = 0; turns < 2 * (BIG / CHUNK_BYTES) || !answering?.writableNeedDrain; turns++)
    await new Promise((resolve) => setImmediate(resolve));
  assert.ok(Math.max(...read) < 64 * 2 ** 20, `read up to ${Math.max(...read)}`);

  warned.length = 0;
  response.destroy();
  await answered;
  assert.deepEqual(warned, []);
  assert.equal(closed, before + 1);
});

test("the version of bytes in memory follows their content", () => {
  assert.notEqual(fileOf(Buffer.from("a")).version, fileOf(Buffer.from("b")).version);
});

test("N12 the length is reported in GRUB's spelling: without it no kernel is started under Secure Boot", async () => {
  const response = await send("/boot/bootx64.efi");
  response.resume();
  assert.ok(response.rawHeaders.includes("Content-Length"));
});
