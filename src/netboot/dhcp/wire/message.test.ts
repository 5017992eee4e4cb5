import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encode } from "./encode.ts";
import { Malformed } from "./malformed.ts";
import { decode, LONGEST_MESSAGE, type Message } from "./message.ts";

const u8 = fc.integer({ min: 0, max: 0xff });
const u16 = fc.integer({ min: 0, max: 0xffff });
const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const text = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 1, max: 255 }), { maxLength }).map((codes) => String.fromCharCode(...codes));
const optionCode = fc.integer({ min: 1, max: 254 }).filter((code) => code !== 52);
const options = (bytes: number): fc.Arbitrary<Map<number, Uint8Array>> =>
  fc.array(fc.tuple(optionCode, fc.uint8Array({ maxLength: bytes })), { maxLength: 10 }).map((all) => new Map(all));

const message = (optionBytes: number): fc.Arbitrary<Message> =>
  fc.record({
    op: u8,
    htype: u8,
    hops: u8,
    xid: u32,
    secs: u16,
    flags: u16,
    ciaddr: u32,
    yiaddr: u32,
    siaddr: u32,
    giaddr: u32,
    chaddr: fc.uint8Array({ maxLength: 16 }),
    sname: text(64),
    file: text(128),
    options: options(optionBytes),
  });

/** Comparable: options sorted, bytes as hex. */
function plain(m: Message, without: readonly number[] = []): unknown {
  const kept = [...m.options].filter(([code]) => !without.includes(code)).sort(([a], [b]) => a - b);
  return {
    ...m,
    chaddr: Buffer.from(m.chaddr).toString("hex"),
    options: kept.map(([code, data]) => [code, Buffer.from(data).toString("hex")]),
  };
}

test("RFC 2131, 3396: what is written is read back, options longer than 255 bytes included", () => {
  fc.assert(
    fc.property(message(380), (m) => {
      const { bytes, leftOut } = encode(m, LONGEST_MESSAGE);
      assert.deepEqual(leftOut, []);
      assert.ok(bytes.length >= 300);
      assert.deepEqual(plain(decode(bytes)), plain(m));
    }),
  );
});

test("N13 option 52: what does not fit the packet is found in sname and file; what is left out is named; the limit holds", () => {
  fc.assert(
    fc.property(message(120), fc.integer({ min: 548, max: 900 }), (m, limit) => {
      const small = new Map([...m.options].filter(([code]) => code !== 82));
      const { bytes, leftOut } = encode({ ...m, options: small }, limit);
      const back = decode(bytes);
      assert.ok(bytes.length <= limit);
      assert.deepEqual((plain(back) as Message).options, (plain({ ...m, options: small }, leftOut) as Message).options);
      if (back.file !== m.file) assert.ok(back.file === "" && small.has(67));
      assert.equal(back.sname, m.sname);
    }),
  );
});

test("N13 with both fields free, 190 more bytes of options find room", () => {
  const empty = { op: 2, htype: 1, hops: 0, xid: 1, secs: 0, flags: 0, ciaddr: 0, yiaddr: 0, siaddr: 0, giaddr: 0 };
  const many = new Map([150, 151, 152].map((code) => [code, new Uint8Array(99)]));
  const m: Message = {
    ...empty,
    chaddr: new Uint8Array(6),
    sname: "",
    file: "",
    options: many.set(153, new Uint8Array(60)),
  };
  const { bytes, leftOut } = encode(m, 548);
  assert.deepEqual(leftOut, []);
  assert.deepEqual(plain(decode(bytes)), plain(m));
});

test("N13 a field that has a text of its own holds no options; the file's name may move to option 67", () => {
  const big = new Map([
    [67, Buffer.from("boot.ipxe")],
    [150, new Uint8Array(200)],
    [151, new Uint8Array(60)],
    [152, new Uint8Array(50)],
  ]);
  const written = (sname: string, file: string, options: Map<number, Uint8Array>) => {
    const { bytes, leftOut } = encode({ ...seed, sname, file, options });
    const read = decode(bytes);
    return { leftOut, sname: read.sname, file: read.file, codes: [...read.options.keys()].sort((a, b) => a - b) };
  };
  const all = [...big.keys()];
  assert.deepEqual(written("server", "", big), { leftOut: [], sname: "server", file: "", codes: all });
  assert.deepEqual(written("server", "boot.ipxe", big), { leftOut: [], sname: "server", file: "", codes: all });
  big.delete(67);
  assert.deepEqual(written("server", "boot.ipxe", big), {
    ...{ leftOut: [152], sname: "server", file: "boot.ipxe", codes: [150, 151] },
  });
  assert.deepEqual(written("", "boot.ipxe", big), {
    leftOut: [],
    sname: "",
    file: "boot.ipxe",
    codes: [150, 151, 152],
  });
});

test("N14 option 82 is the last one in the packet, whatever came before", () => {
  fc.assert(
    fc.property(message(40), fc.uint8Array({ minLength: 1, maxLength: 60 }), (m, relay) => {
      const { bytes } = encode({ ...m, options: new Map([[82, relay], ...m.options, [82, relay]]) });
      const end = Buffer.from([82, relay.length, ...relay, 255]);
      assert.ok(Buffer.from(bytes).includes(end));
      const after = bytes.subarray(Buffer.from(bytes).lastIndexOf(end) + end.length);
      assert.ok(after.every((byte) => byte === 0));
    }),
  );
});

const seed: Message = {
  ...{ op: 1, htype: 1, hops: 0, xid: 0x1234, secs: 4, flags: 0x8000, ciaddr: 0, yiaddr: 0, siaddr: 0, giaddr: 0 },
  chaddr: Uint8Array.of(0x52, 0x54, 0, 1, 2, 3),
  sname: "",
  file: "",
  options: new Map([
    [53, Uint8Array.of(1)],
    [93, Uint8Array.of(0, 7)],
    [60, Buffer.from("PXEClient:Arch:00007:UNDI:003000")],
  ]),
};

/** More under `FUZZ_RUNS`; the default keeps the suite fast. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);

test("N8 whatever the bytes, reading them ends in a message or in Malformed", () => {
  const damaged = fc
    .tuple(fc.constant(encode(seed).bytes), fc.array(fc.tuple(fc.nat(299), u8), { maxLength: 30 }), fc.nat(300))
    .map(([good, changes, length]) => {
      const bytes = Uint8Array.from(good);
      for (const [at, value] of changes) bytes[at] = value;
      return bytes.subarray(0, Math.max(240, length));
    });
  fc.assert(
    fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 600 })), (bytes) => {
      try {
        const { options, chaddr } = decode(bytes);
        const size = [...options.values()].reduce((sum, data) => sum + data.length, 0);
        assert.ok(size <= bytes.length && chaddr.length <= 16);
      } catch (error) {
        assert.ok(error instanceof Malformed, String(error));
      }
    }),
    { numRuns: RUNS },
  );
});

test("an option beyond the packet, a wrong cookie, a hardware address of 17 bytes and BOOTP's short form are refused by name", () => {
  const bytes = encode(seed).bytes;
  const changed = (at: number, value: number): Uint8Array => {
    const copy = Uint8Array.from(bytes);
    copy[at] = value;
    return copy;
  };
  assert.throws(() => decode(bytes.subarray(0, 242)), /option 53: it reaches beyond the packet/);
  assert.throws(() => decode(changed(236, 0)), /no magic cookie/);
  assert.throws(() => decode(changed(2, 17)), /hlen: 17 bytes/);
  assert.throws(() => decode(bytes.subarray(0, 200)), /200 bytes/);
  assert.throws(() => decode(new Uint8Array(LONGEST_MESSAGE + 1)), Malformed);
});
