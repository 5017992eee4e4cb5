import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { maskOf, parseIpv4 } from "../wire/ipv4.ts";
import { Malformed } from "../wire/malformed.ts";
import * as addresses from "./addresses.ts";
import * as routes from "./classless-routes.ts";
import * as architecture from "./client-architecture.ts";
import * as search from "./domain-search.ts";
import * as ipxe from "./ipxe.ts";
import * as machine from "./machine-identifier.ts";
import * as messageType from "./message-type.ts";
import * as numbers from "./numbers.ts";
import * as pxe from "./pxe.ts";
import * as relay from "./relay-agent.ts";
import * as subOptions from "./sub-options.ts";
import * as text from "./text.ts";
import * as userClass from "./user-class.ts";

const u8 = fc.integer({ min: 0, max: 0xff });
const u16 = fc.integer({ min: 0, max: 0xffff });
const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const latin = fc.array(fc.integer({ min: 1, max: 255 }), { maxLength: 40 }).map((c) => String.fromCharCode(...c));
const bytes = fc.uint8Array({ maxLength: 40 });
const label = fc.stringMatching(/^[a-z0-9-]{1,20}$/);
const route = fc
  .tuple(u32, fc.nat(32), u32)
  .map(([address, prefix, router]) => ({ network: (address & maskOf(prefix)) >>> 0, prefix, router }));

/** What each family promises: `values` are read back as they were written. */
const FAMILIES: Record<
  string,
  { values: fc.Arbitrary<never>; encode(v: never): Uint8Array; decode(b: Uint8Array): unknown }
> = {
  "53": { values: u8 as never, encode: messageType.encode, decode: messageType.decode },
  "1, 3, 6, 7, 28, 42, 118, 150": {
    values: fc.array(u32, { minLength: 1, maxLength: 20 }) as never,
    encode: addresses.encode,
    decode: addresses.decode,
  },
  "51, 58, 59": { values: u32 as never, encode: numbers.encodeU32, decode: numbers.decodeU32 },
  "26, 57": { values: u16 as never, encode: numbers.encodeU16, decode: numbers.decodeU16 },
  "12, 15, 56, 60, 66, 67": { values: latin as never, encode: text.encode, decode: text.decode },
  "93": {
    values: fc.array(u16, { minLength: 1, maxLength: 6 }) as never,
    encode: architecture.encode,
    decode: architecture.decode,
  },
  "97": { values: fc.uuid() as never, encode: machine.encode, decode: machine.decode },
  "77 of RFC 3004": {
    values: fc.array(
      latin.filter((t) => t !== ""),
      { maxLength: 5 },
    ) as never,
    encode: userClass.encode,
    decode: userClass.decode,
  },
  "82": {
    values: fc.record(
      { circuit: bytes, remote: bytes, linkSelection: u32, serverOverride: u32 },
      { requiredKeys: [] },
    ) as never,
    encode: relay.encode,
    decode: relay.decode,
  },
  "175": {
    values: fc.record(
      { http: fc.boolean(), https: fc.boolean(), noProxyWait: fc.boolean() },
      { requiredKeys: [] },
    ) as never,
    encode: ipxe.encode,
    decode: ipxe.decode,
  },
  "119": {
    values: fc.array(
      fc.array(label, { minLength: 1, maxLength: 5 }).map((l) => l.join(".")),
      { maxLength: 5 },
    ) as never,
    encode: search.encode,
    decode: search.decode,
  },
  "121": { values: fc.array(route, { maxLength: 6 }) as never, encode: routes.encode, decode: routes.decode },
};

/** As plain data: Buffers and bytes alike, without prototypes. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, v) => (v?.type === "Buffer" ? v.data : v instanceof Uint8Array ? [...v] : v)));

for (const [name, { values, encode, decode }] of Object.entries(FAMILIES)) {
  test(`option ${name}: what is encoded is read back`, () => {
    fc.assert(fc.property(values, (value) => assert.deepEqual(plain(decode(encode(value))), plain(value))));
  });

  test(`N8 option ${name}: whatever the bytes, reading them ends in a value or in Malformed`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (any) => {
        try {
          decode(any);
        } catch (error) {
          assert.ok(error instanceof Malformed, String(error));
        }
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 300) },
    );
  });
}

test("options 43 and 175 on the wire are what firmware was seen to accept", () => {
  assert.deepEqual([...pxe.encode({ discoveryControl: pxe.BOOT_FILE_GIVEN })], [6, 1, 8, 255]);
  assert.deepEqual([...ipxe.encode({ noProxyWait: true })], [0xb0, 1, 1]);
});

test("option 77: iPXE's bare text and RFC 3004's list say the same", () => {
  assert.deepEqual(userClass.decode(Buffer.from("iPXE")), ["iPXE"]);
  assert.deepEqual(userClass.decode(Buffer.from("\x04iPXE")), ["iPXE"]);
  assert.deepEqual(userClass.decode(Buffer.from("\x04iPXE\x07slipway")), ["iPXE", "slipway"]);
});

test("option 97: the all-zero GUID is no identity; SMBIOS order is turned", () => {
  assert.equal(machine.decode(new Uint8Array(17)), undefined);
  const guid = Uint8Array.of(0, 0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 10, 11, 12, 13, 14, 15);
  assert.equal(machine.decode(guid), "00112233-4455-6677-8899-0a0b0c0d0e0f");
});

test("option 93: an odd length is refused and names the length", () => {
  assert.throws(() => architecture.decode(Uint8Array.of(0, 7, 0)), /option 93: 3 bytes/);
});

test("option 119: a pointer to an earlier name is followed, one to itself is refused", () => {
  const compressed = Buffer.from([...search.encode(["eng.example.org"]), 3, 0x61, 0x62, 0x63, 0xc0, 4]);
  assert.deepEqual(search.decode(compressed), ["eng.example.org", "abc.example.org"]);
  assert.throws(() => search.decode(Uint8Array.of(0xc0, 0)), Malformed);
});

test("option 121: a default route takes five bytes, a /24 eight", () => {
  const all = [
    { network: 0, prefix: 0, router: parseIpv4("10.0.0.1") },
    { network: parseIpv4("10.1.2.0"), prefix: 24, router: parseIpv4("10.0.0.2") },
  ];
  assert.deepEqual([...routes.encode(all)], [0, 10, 0, 0, 1, 24, 10, 1, 2, 10, 0, 0, 2]);
});

test("sub-options over 255 bytes are our own mistake", () => {
  assert.throws(() => subOptions.encode(new Map([[1, new Uint8Array(256)]]), "plain"), RangeError);
});
