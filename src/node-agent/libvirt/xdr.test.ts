import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { Frames, packetBytes } from "./frames.ts";
import { domainRef, lifecycleEvent, remoteError } from "./procedures.ts";
import { type Codec, decode, encode, i32, list, opaque, optional, struct, text, u32, u64 } from "./xdr.ts";

const unicode = fc.string({ unit: "binary", maxLength: 60 }).map((one) => one.toWellFormed());
const uuidText = fc.uuid();
const plain = { noNullPrototype: true };
const domain = fc.record({ name: unicode, uuid: uuidText, id: fc.integer() }, plain);

function roundTrip<T>(codec: Codec<T>, values: fc.Arbitrary<T>): void {
  fc.assert(
    fc.property(values, (value) => {
      const bytes = encode(codec, value);
      assert.equal(bytes.length % 4, 0);
      assert.deepEqual(decode(codec, bytes), value);
    }),
  );
}

test("what is encoded is read back, whatever it is, in multiples of four bytes", () => {
  roundTrip(u32, fc.integer({ min: 0, max: 0xffff_ffff }));
  roundTrip(i32, fc.integer());
  roundTrip(u64, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
  roundTrip(text, unicode);
  roundTrip(optional(text), fc.option(unicode, { nil: undefined }));
  roundTrip(list(text, 100), fc.array(unicode, { maxLength: 100 }));
  roundTrip(
    opaque(5),
    fc.uint8Array({ minLength: 5, maxLength: 5 }).map((bytes) => Buffer.from(bytes)),
  );
  roundTrip(domainRef, domain);
  roundTrip(
    struct<{ a: number; b: readonly string[] }>({ a: i32, b: list(text, 9) }),
    fc.record({ a: fc.integer(), b: fc.array(unicode, { maxLength: 9 }) }, plain),
  );
});

test("bytes that are no such value end in a fault, and cost no more than themselves", () => {
  for (const codec of [text, list(domainRef, 16_384), remoteError, lifecycleEvent] as Codec<unknown>[])
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          decode(codec, Buffer.from(bytes));
        } catch (error) {
          assert.ok(isFault(error, "Invalid"), String(error));
        }
      }),
    );
  // Four gigabytes are claimed by four bytes.
  assert.throws(() => decode(text, Buffer.from("ffffffff", "hex")), /a text of 4294967295 bytes/);
  assert.throws(() => decode(list(u32, 2 ** 32), Buffer.from("ffffffff", "hex")), /a list of 4294967295/);
  assert.throws(() => decode(optional(u32), encode(u32, 2)), /2 where 0 or 1 is due/);
  assert.throws(() => decode(u32, Buffer.alloc(8)), /4 bytes too many/);
});

test("packets come whole in whatever pieces they travel", () => {
  const packet = fc.record(
    {
      ...{ program: fc.nat(), version: fc.nat(), procedure: fc.integer(), type: fc.nat(6), serial: fc.nat() },
      status: fc.nat(2),
      body: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
    },
    plain,
  );
  fc.assert(
    fc.property(fc.array(packet, { maxLength: 6 }), fc.array(fc.integer({ min: 1, max: 50 })), (packets, cuts) => {
      const stream = Buffer.concat(packets.map(packetBytes));
      const frames = new Frames();
      const read = [];
      for (let at = 0, i = 0; at < stream.length; i++) {
        const next = at + (cuts[i % Math.max(1, cuts.length)] ?? 7);
        read.push(...frames.push(stream.subarray(at, next)));
        at = next;
      }
      assert.deepEqual(read, packets);
    }),
  );
});

test("a length that no packet has ends the stream", () => {
  for (const length of ["00000000", "0000001b", "02000001", "ffffffff"])
    assert.throws(() => new Frames().push(Buffer.from(length, "hex")), /a packet of \d+ bytes/);
});
