import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseIpv4 } from "../wire/ipv4.ts";
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

/** What is read and written: `values` are read back as they were written. */
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
  "175": {
    values: fc.record(
      { http: fc.boolean(), https: fc.boolean(), noProxyWait: fc.boolean() },
      { requiredKeys: [] },
    ) as never,
    encode: ipxe.encode,
    decode: ipxe.decode,
  },
};

/** What clients and relays alone write. */
const READ: Record<string, (bytes: Uint8Array) => unknown> = {
  "77": userClass.decode,
  "82": relay.decode,
  "93": architecture.decode,
  "97": machine.decode,
  ...Object.fromEntries(Object.entries(FAMILIES).map(([name, { decode }]) => [name, decode])),
};

/** As plain data: Buffers and bytes alike, without prototypes. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, v) => (v?.type === "Buffer" ? v.data : v instanceof Uint8Array ? [...v] : v)));

for (const [name, { values, encode, decode }] of Object.entries(FAMILIES)) {
  test(`option ${name}: what is encoded is read back`, () => {
    fc.assert(fc.property(values, (value) => assert.deepEqual(plain(decode(encode(value))), plain(value))));
  });
}

for (const [name, decode] of Object.entries(READ))
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

test("option 93: two bytes a number, the preferred one first; an odd length is refused and names the length", () => {
  assert.deepEqual(architecture.decode(Uint8Array.of(0, 7, 1, 16)), [7, 272]);
  assert.throws(() => architecture.decode(Uint8Array.of(0, 7, 0)), /option 93: 3 bytes/);
  assert.throws(() => architecture.decode(new Uint8Array()), /option 93: 0 bytes/);
});

test("option 82: what the server goes by is found among what it only echoes", () => {
  const sent = [1, 2, 0x65, 0x31, 9, 1, 7, 2, 1, 0x72, 5, 4, 10, 1, 0, 0, 11, 4, 10, 0, 0, 9];
  assert.deepEqual(plain(relay.decode(Uint8Array.from(sent))), {
    ...{ circuit: [0x65, 0x31], remote: [0x72] },
    ...{ linkSelection: parseIpv4("10.1.0.0"), serverOverride: parseIpv4("10.0.0.9") },
  });
  assert.deepEqual(relay.decode(new Uint8Array()), {});
  assert.throws(() => relay.decode(Uint8Array.of(5, 2, 10, 1)), Malformed);
});

test("option 119: each label after its length, each name to its end; what DNS takes for no label is refused", () => {
  const name = (...labels: string[]) => [...labels.flatMap((each) => [each.length, ...Buffer.from(each)]), 0];
  const longest = "x".repeat(63);
  assert.deepEqual(
    [...search.encode(["eng.example.org", longest])],
    [...name("eng", "example", "org"), ...name(longest)],
  );
  for (const wrong of ["", "a..b", `${longest}x`, "a b", "\u00fc"])
    assert.throws(() => search.encode([wrong]), RangeError, wrong);
});

test("option 121: of a network only the bytes that its prefix covers are written", () => {
  const all = [
    { network: 0, prefix: 0, router: parseIpv4("10.0.0.1") },
    { network: parseIpv4("10.1.2.0"), prefix: 24, router: parseIpv4("10.0.0.2") },
    { network: parseIpv4("10.1.255.0"), prefix: 17, router: parseIpv4("10.0.0.3") },
  ];
  assert.deepEqual([...routes.encode(all)], [0, 10, 0, 0, 1, 24, 10, 1, 2, 10, 0, 0, 2, 17, 10, 1, 128, 10, 0, 0, 3]);
});

test("sub-options over 255 bytes are our own mistake", () => {
  assert.throws(() => subOptions.encode(new Map([[1, new Uint8Array(256)]]), "plain"), RangeError);
});
