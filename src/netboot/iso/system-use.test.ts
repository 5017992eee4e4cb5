import assert from "node:assert/strict";
import { test } from "node:test";
import { fileOf } from "../files/memory.ts";
import { fieldsOf } from "./system-use.ts";

const BLOCK = 2_048;

/** A field by its name. */
function field(name: string, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from(name, "latin1"), Buffer.of(4 + data.length, 1), data]);
}

/** Where the fields go on: block, offset and length, each in both byte orders. */
function goesOn(block: number, length: number, offset = 0): Buffer {
  const data = Buffer.alloc(24);
  for (const [at, value] of [block, offset, length].entries()) data.writeUInt32LE(value, 8 * at);
  return field("CE", data);
}

const names = async (area: Buffer, blocks: readonly Buffer[], budget = { bytes: 1 << 20 }) => {
  const image = Buffer.alloc(BLOCK * Math.max(1, blocks.length));
  for (const [at, block] of blocks.entries()) block.copy(image, at * BLOCK);
  return (await fieldsOf(fileOf(image) as never, area, BLOCK, budget)).map(({ name }) => name);
};

test("fields go on in other areas, one after the other, until one does not", async () => {
  const last = field("NM", Buffer.from("x"));
  const middle = Buffer.concat([field("PX", Buffer.alloc(4)), goesOn(1, last.length)]);
  assert.deepEqual(await names(Buffer.concat([field("RR", Buffer.of(1)), goesOn(0, middle.length)]), [middle, last]), [
    ...["RR", "CE", "PX", "CE", "NM"],
  ]);
  assert.deepEqual(await names(field("CE", Buffer.alloc(23)), []), ["CE"], "one that is cut leads nowhere");
});

test("areas that lead to themselves, are too long, or more than an image may have, are refused", async () => {
  const without = { message: /extended attributes without end/ };
  const loop = goesOn(0, 28);
  await assert.rejects(names(loop, [loop]), without);
  await assert.rejects(names(goesOn(0, 8_193), [Buffer.alloc(BLOCK)]), without);
  await assert.rejects(names(goesOn(0, 28), [Buffer.alloc(28)], { bytes: 27 }), without);
  assert.deepEqual(await names(goesOn(0, 28), [Buffer.alloc(28)], { bytes: 28 }), ["CE"]);
});
