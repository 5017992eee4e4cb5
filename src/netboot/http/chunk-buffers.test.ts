import assert from "node:assert/strict";
import { test } from "node:test";
import { CHUNK_BYTES, ChunkBuffers } from "./chunk-buffers.ts";

const KIB = 1024;

test("a transfer begins with a small piece and goes on with large ones", async () => {
  await new ChunkBuffers().during(async (own) => {
    assert.deepEqual([own.take().length, own.take().length, own.take().length], [64 * KIB, CHUNK_BYTES, CHUNK_BYTES]);
  });
});

test("the more transfers there are, the smaller are their pieces, and they grow again when others have ended", async () => {
  const all = new ChunkBuffers();
  const ended = Promise.withResolvers<void>();
  const others = Array.from({ length: 199 }, () => all.during(() => ended.promise));
  await all.during(async (own) => {
    own.take();
    assert.equal(own.take().length, 64 * KIB);
    ended.resolve();
    await Promise.all(others);
    assert.equal(own.take().length, CHUNK_BYTES);
  });
});

test("200 transfers with two pieces each hold less than 32 MiB, and what lies ready afterwards is a few pieces", async () => {
  const all = new ChunkBuffers();
  let held = 0;
  const ended = Promise.withResolvers<void>();
  const transfers = Array.from({ length: 200 }, () =>
    all.during(async (own) => {
      const taken = [own.take(), own.take()];
      held += taken[0]!.length;
      await ended.promise;
      for (const buffer of taken) own.give(buffer);
    }),
  );
  assert.ok(2 * held < 32 * 2 ** 20, `${held}`);
  ended.resolve();
  await Promise.all(transfers);
  let idle = 0;
  for (const bytes of [16, 32, 64, 128, 256]) while (all.takeIdle(bytes * KIB) !== undefined) idle++;
  assert.equal(idle, 8);
});

test("transfers over TLS have pieces of half the size, since as much again lies encrypted", async () => {
  const all = new ChunkBuffers();
  const ended = Promise.withResolvers<void>();
  const transfers = Array.from({ length: 200 }, () => all.during(() => ended.promise, { isEncrypted: true }));
  assert.equal(all.chunkBytes, 32 * KIB);
  ended.resolve();
  await Promise.all(transfers);
  assert.equal(all.chunkBytes, CHUNK_BYTES);
});

test("memory is used again by the same transfer and by the next one, and never while it is taken", async () => {
  const all = new ChunkBuffers();
  let kept: Buffer | undefined;
  await all.during(async (own) => {
    own.take();
    const [one, two] = [own.take(), own.take()];
    assert.notEqual(one, two);
    own.give(one);
    kept = own.take();
    assert.equal(kept, one);
    own.give(kept);
  });
  await all.during(async (own) => {
    own.take();
    assert.equal(own.take(), kept);
    assert.notEqual(own.take(), kept);
  });
});

test("a transfer keeps one piece ready for itself, what it gives back beyond that is for others", async () => {
  const all = new ChunkBuffers();
  await all.during(async (own) => {
    own.take();
    const [one, two] = [own.take(), own.take()];
    own.give(one);
    own.give(two);
    assert.equal(all.takeIdle(CHUNK_BYTES), two);
    assert.equal(own.take(), one);
  });
});

test("a transfer that fails counts no more, and what it still held is used by nobody", async () => {
  const all = new ChunkBuffers();
  await assert.rejects(
    all.during(async (own) => {
      own.take();
      throw new Error("gone");
    }),
    /gone/,
  );
  assert.equal(all.takeIdle(64 * KIB), undefined);
  assert.equal(all.chunkBytes, CHUNK_BYTES);
});
