import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fileOf } from "./memory.ts";
import { readAhead } from "./read-ahead.ts";

test("whatever is read in whatever order, it is what the file holds", async () => {
  const content = Uint8Array.from({ length: 100 }, (_, i) => i);
  const reads = fc.array(fc.tuple(fc.nat(120), fc.nat(30)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(reads, fc.integer({ min: 1, max: 40 }), async (places, chunkBytes) => {
      const ahead = readAhead(fileOf(content), chunkBytes);
      for (const [offset, length] of places)
        assert.deepEqual([...(await ahead.read(offset, length))], [...content.slice(offset, offset + length)]);
    }),
  );
});

test("each chunk is read once, and one ahead of its use", async () => {
  const asked: number[] = [];
  const file = {
    ...fileOf(new Uint8Array(50)),
    async read(offset: number) {
      asked.push(offset);
      return new Uint8Array(20);
    },
  };
  const ahead = readAhead(file, 20);

  await ahead.read(0, 5);
  assert.deepEqual(asked, [0, 20]);
  for (const offset of [5, 10, 15]) await ahead.read(offset, 5);
  assert.deepEqual(asked, [0, 20]);
  await ahead.read(20, 5);
  assert.deepEqual(asked, [0, 20, 40]);
});

test("an error is reported to whoever needs the bytes, and to nobody else", async () => {
  const file = {
    ...fileOf(new Uint8Array(50)),
    async read(offset: number) {
      if (offset > 0) throw new Error("EIO");
      return new Uint8Array(20);
    },
  };
  const ahead = readAhead(file, 20);

  assert.equal((await ahead.read(0, 20)).length, 20);
  await assert.rejects(ahead.read(20, 5), /EIO/);
});
