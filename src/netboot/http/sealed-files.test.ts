import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isFault, seededRandom } from "@slipway/base";
import { Decrypter } from "age-encryption";
import { memoryFiles } from "../files/memory.ts";
import type { FileSource, OpenFile } from "../files/source.ts";
import { AGENT_IDENTITY, AGENT_KEY_TEXT } from "../hosts/testing.ts";
import { answerFile } from "./file-answer.ts";
import { checkAgentKey, sealedFiles } from "./sealed-files.ts";

const ASKER = { address: "10.0.0.5" };
const BORDERS = [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000, 1_000_000];
const contents = Object.fromEntries(BORDERS.map((bytes) => [String(bytes), seededRandom(bytes).bytes(bytes)]));
const files = sealedFiles(memoryFiles(contents), () => AGENT_KEY_TEXT);

const server = createServer((request, response) => void answerFile(files, request, response));
server.listen(0, "127.0.0.1");
await once(server, "listening");
after(() => server.close());
const urlOf = (name: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`;

async function bodyOf(
  name: string,
  headers: Record<string, string> = {},
): Promise<{ response: Response; body: Buffer }> {
  const response = await fetch(urlOf(name), { headers });
  return { response, body: Buffer.from(await response.arrayBuffer()) };
}

async function opened(body: Uint8Array): Promise<Uint8Array> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(AGENT_IDENTITY);
  return decrypter.decrypt(body);
}

test("a sealed file has the length that is announced, and opens to what it was, wherever age's chunks end", async () => {
  for (const [name, content] of Object.entries(contents)) {
    const { response, body } = await bodyOf(name);
    assert.equal(Number(response.headers.get("content-length")), body.length, name);
    assert.deepEqual(Buffer.from(await opened(body)), Buffer.from(content), name);
  }
});

test("Debian's age opens what is sealed here, and refuses it cut off or changed", {
  skip: !existsSync("/usr/bin/age") && "not installed: age",
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-sealed-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const identity = join(folder, "identity");
  writeFileSync(identity, `${AGENT_IDENTITY}\n`, { mode: 0o600 });
  const open = (body: Uint8Array): Buffer =>
    execFileSync("age", ["--decrypt", "--identity", identity], { input: body, stdio: "pipe", maxBuffer: 2 ** 24 });
  for (const [name, content] of Object.entries(contents)) {
    const { body } = await bodyOf(name);
    assert.deepEqual(open(body), Buffer.from(content), name);
    assert.throws(() => open(body.subarray(0, -1)), name);
    body[body.length - 1]! ^= 1;
    assert.throws(() => open(body), name);
  }
  const { body } = await bodyOf("131072");
  assert.throws(() => open(body.subarray(0, -65_552)), "cut at the border of a chunk");
});

test("a sealed file has no parts and no two answers with the same bytes: a range is answered with the whole", async () => {
  const [first, second] = [await bodyOf("1"), await bodyOf("1", { range: "bytes=0-0" })];
  assert.equal(second.response.status, 200);
  assert.equal(second.response.headers.get("accept-ranges"), "none");
  assert.notEqual(first.response.headers.get("etag"), second.response.headers.get("etag"));
  assert.notDeepEqual(first.body, second.body);
  assert.deepEqual(await opened(second.body), contents["1"]);
});

test("a file that becomes shorter while it is sealed ends the connection: no part opens as the whole", async () => {
  const shrunk: FileSource = {
    open: async () => ({
      size: 600_000,
      version: "v",
      read: async (offset, length) => new Uint8Array(offset > 0 ? 0 : length),
      close: async () => {},
    }),
  };
  const file = await sealedFiles(shrunk, () => AGENT_KEY_TEXT).open("x", ASKER);
  await assert.rejects(async () => {
    for (let at = 0; at < file!.size; at += 65_536) await file!.read(at, 65_536);
  }, /0 of 262144 bytes/);
  await file!.close();
});

test("the file behind is read as it is taken, not before, and closed in any case", async () => {
  let [read, closed] = [0, 0];
  const big: OpenFile = {
    size: 2 ** 40,
    version: "v",
    read: async (_, length) => {
      read += length;
      return new Uint8Array(length);
    },
    close: async () => void closed++,
  };
  const file = await sealedFiles({ open: async () => big }, () => AGENT_KEY_TEXT).open("x", ASKER);
  for (let at = 0; at < 2 ** 22; at += 65_536) await file!.read(at, 65_536);
  await file!.close();
  assert.ok(read < 2 ** 23, `${read} bytes were read ahead`);
  assert.equal(closed, 1);

  const refused = sealedFiles({ open: async () => big }, () => "age1none");
  await assert.rejects(refused.open("x", ASKER), (error) => isFault(error, "Invalid"));
  assert.equal(closed, 2);
});

test("a key that has the form but is none is refused: a wrong checksum, and a point that every secret is the same for", async () => {
  await checkAgentKey(AGENT_KEY_TEXT);
  const wrong = AGENT_KEY_TEXT.replace(/.$/, (last) => (last === "q" ? "p" : "q"));
  for (const key of [wrong, `age1${"q".repeat(52)}5cu47z`])
    await assert.rejects(checkAgentKey(key), (error) => isFault(error, "Invalid") && !error.message.includes(key), key);
});
