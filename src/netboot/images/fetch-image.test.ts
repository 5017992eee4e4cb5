import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { fetchHead } from "./fetch-image.ts";
import { HEAD_BYTES } from "./format.ts";

const URL = "http://images.invalid/disk";

/** A server that answers with this status and a body without end. */
function endless(status: number) {
  let left = false;
  const body = new ReadableStream({
    pull: (to) => to.enqueue(new Uint8Array(100)),
    cancel: () => {
      left = true;
    },
  });
  return { fetch: async () => new Response(body, { status }), left: () => left };
}

test("the transfer of an answer that is no image is ended, as is that of a file whose beginning is read", async () => {
  for (const [status, code] of [
    [404, "NotFound"],
    [499, "NotFound"],
    [500, "Unavailable"],
  ] as const) {
    const server = endless(status);
    await assert.rejects(fetchHead(server.fetch, URL), (error) => isFault(error, code));
    assert.equal(server.left(), true, String(status));
  }
  const server = endless(200);
  assert.equal((await fetchHead(server.fetch, URL)).head.length, HEAD_BYTES);
  assert.equal(server.left(), true);
});

test("an image counts as another when its tag, its date or its length is", async () => {
  const versionOf = async (headers: Record<string, string>): Promise<string> =>
    (await fetchHead(async () => new Response("image", { headers }), URL)).version;
  const usual = { etag: '"1"', "last-modified": "Mon, 23 Nov 2026 09:00:00 GMT", "content-length": "5" };
  const versions = [
    await versionOf(usual),
    await versionOf({ ...usual, etag: '"2"' }),
    await versionOf({ ...usual, "last-modified": "Mon, 23 Nov 2026 10:00:00 GMT" }),
    await versionOf({ ...usual, "content-length": "6" }),
  ];
  assert.equal(new Set(versions).size, versions.length);
  // Who is asked for a range names the length of the whole in another place.
  assert.equal(await versionOf({ ...usual, "content-length": "2", "content-range": "bytes 0-1/5" }), versions[0]);
});
