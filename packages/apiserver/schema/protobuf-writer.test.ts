import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ProtobufWriter } from "./protobuf-writer.ts";

/** Reads back fields of the wire format: number and payload. */
function read(bytes: Uint8Array): [field: number, value: number | Uint8Array][] {
  const found: [number, number | Uint8Array][] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    if ((tag & 7) === 0) found.push([tag >>> 3, varint()]);
    else {
      const length = (tag & 7) === 1 ? 8 : varint();
      found.push([tag >>> 3, bytes.subarray(at, at + length)]);
      at += length;
    }
  }
  return found;
}

test("150 in field 1 is written as the encoding guide shows it", () => {
  const writer = new ProtobufWriter();
  writer.int(1, 150);

  assert.deepEqual([...writer.finish()], [0x08, 0x96, 0x01]);
});

test("integers and texts of any size are read back", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.maxSafeNat().filter((n) => n > 0),
      fc.string({ minLength: 1, unit: "binary" }),
      (field, number, text) => {
        const writer = new ProtobufWriter();
        writer.int(field, number);
        writer.text(field + 1, text);
        writer.message(field + 2, {}, (inner) => inner.bool(1, true));
        const [a, b, c] = read(writer.finish());
        assert.deepEqual(a, [field, number]);
        assert.equal(Buffer.from(b?.[1] as Uint8Array).toString(), Buffer.from(text).toString());
        assert.deepEqual(Buffer.from((c?.[1] ?? []) as Uint8Array), Buffer.of(0x08, 1));
      },
    ),
  );
});

test("a double is eight bytes, little end first", () => {
  const writer = new ProtobufWriter();
  writer.double(7, 1.5);

  assert.deepEqual([...writer.finish()], [(7 << 3) | 1, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f]);
});

test("what is absent or of another type is not written", () => {
  const writer = new ProtobufWriter();
  writer.text(1, undefined);
  writer.text(2, 5);
  writer.bool(3, "true");
  writer.int(4, "1");
  writer.message(5, [], () => assert.fail("a list is no message"));

  assert.equal(writer.finish().length, 0);
});
