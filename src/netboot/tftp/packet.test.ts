import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decode, encode, type Packet } from "./packet.ts";

const text = fc.string({ unit: fc.integer({ min: 1, max: 255 }).map((c) => String.fromCharCode(c)), maxLength: 60 });
const options = fc.array(fc.tuple(text, text), { maxLength: 3 });
const number = fc.integer({ min: 0, max: 0xffff });
const bytes = fc.uint8Array({ maxLength: 2000 });
const PLAIN = { noNullPrototype: true } as const;
const packet: fc.Arbitrary<Packet> = fc.oneof(
  fc.record({ op: fc.constantFrom("read", "write"), name: text, mode: text, options }, PLAIN),
  fc.record({ op: fc.constant("data"), block: number, bytes }, PLAIN),
  fc.record({ op: fc.constant("ack"), block: number }, PLAIN),
  fc.record({ op: fc.constant("error"), code: number, message: text }, PLAIN),
  fc.record({ op: fc.constant("oack"), options }, PLAIN),
);

test("TFTP: what is encoded is read back, whatever it is", () => {
  fc.assert(
    fc.property(packet, (sent) => {
      const wire = encode(sent);
      fc.pre(wire.length >= 4 && (wire.length <= 512 || sent.op === "data"));
      const read = decode(wire);
      assert.deepEqual(read.op === "data" ? { ...read, bytes: Uint8Array.from(read.bytes) } : read, sent);
    }),
  );
});

test("TFTP: a read request looks as RFC 2347 draws it", () => {
  const request: Packet = { op: "read", name: "a", mode: "octet", options: [["tsize", "0"]] };

  assert.equal(Buffer.from(encode(request)).toString("latin1"), "\x00\x01a\0octet\0tsize\x000\0");
});

test("TFTP: an option without a value, and padding after the last NUL, are passed over", () => {
  const wire = Buffer.from("\x00\x01a\0octet\0blksize\x001432\0tsize\0junk", "latin1");

  assert.deepEqual(decode(wire), { op: "read", name: "a", mode: "octet", options: [["blksize", "1432"]] });
});

test("TFTP: an error without a message, or without its end, is read", () => {
  assert.deepEqual(decode(Uint8Array.of(0, 5, 0, 8)), { op: "error", code: 8, message: "" });
  assert.deepEqual(decode(Buffer.from("\x00\x05\x00\x08bye", "latin1")), { op: "error", code: 8, message: "bye" });
});

test("TFTP: what is no packet is refused, and says why", () => {
  assert.throws(() => decode(Uint8Array.of(0, 1)), /TFTP packet of 2 bytes/);
  assert.throws(() => decode(Uint8Array.of(0, 9, 0, 0)), /TFTP opcode 9/);
  assert.throws(() => decode(Buffer.from("\x00\x01name only\0", "latin1")), /without name or mode/);
  assert.throws(() => decode(Buffer.concat([Buffer.from("\x00\x01"), Buffer.alloc(600, "a")])), /request of 602 bytes/);
  assert.throws(() => decode(new Uint8Array(65_469)), /TFTP packet of 65469 bytes/);
});

test("TFTP: text that would end early, or has no byte of its own, is not written", () => {
  assert.throws(() => encode({ op: "error", code: 0, message: "a\0b" }), RangeError);
  assert.throws(() => encode({ op: "error", code: 0, message: "€" }), RangeError);
});
