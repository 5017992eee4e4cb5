import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encode, Fields, message } from "./wire.ts";

test("protobuf: the bytes of the encoding's own guide", () => {
  assert.equal(encode([1, 150]).toString("hex"), "089601");
  assert.equal(encode([2, "testing"]).toString("hex"), "120774657374696e67");
  assert.equal(encode([3, message(1)]).toString("hex"), "1a020a00");
  assert.equal(encode([1, 0], [2, ""], [3, false]).length, 0);
});

test("protobuf: what is encoded is read back", () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  fc.assert(
    fc.property(int64, fc.uint8Array(), fc.array(fc.string()), (number, bytes, texts) => {
      const encoded = encode([1, number], [2, bytes], ...texts.map((each) => [300, `-${each}`] as const));
      const fields = new Fields(encoded);
      assert.equal(fields.int64(1), number);
      assert.deepEqual(Buffer.from(fields.bytes(2)), Buffer.from(bytes));
      assert.deepEqual(
        fields.texts(300),
        texts.map((each) => `-${each}`.toWellFormed()),
      );
    }),
  );
});

test("protobuf: any bytes are fields or refused", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      try {
        new Fields(bytes).texts(1);
      } catch (error) {
        assert.ok(error instanceof RangeError);
      }
    }),
  );
  assert.throws(() => new Fields(Buffer.from("0a05", "hex")), /a field without an end/);
  assert.throws(() => new Fields(Buffer.from("08ff", "hex")), /a number without an end/);
});

test("protobuf: numbers of a fixed width are passed over, and a wire type that is none is refused", () => {
  const fields = new Fields(Buffer.from(`09${"01".repeat(8)}15${"02".repeat(4)}1807`, "hex"));
  assert.deepEqual([fields.int64(1), fields.int64(2), fields.int64(3)], [0n, 0n, 7n]);
  assert.throws(() => new Fields(Buffer.from("0b", "hex")), /wire type 3/);
});
