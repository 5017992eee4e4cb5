import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ASK_WHERE, readingOf, type StoredCertificate } from "./stored-certificate.ts";

const CERTIFICATE = 0x01c0_0002;
const CHAIN = 0x01c0_0100;
/** As a TPM says that there is no such area (TPM_RC_HANDLE). */
const NONE = Buffer.from("80010000000a0000018b", "hex");
const ANYONE_READS = 1 << 18;
const OWNER_READS = 1 << 17;

/** A SEQUENCE of so many bytes in all. */
function der(bytes: number, fill: number): Buffer {
  const content = Buffer.alloc(bytes, fill);
  content.writeUInt16BE(0x3082, 0);
  content.writeUInt16BE(bytes - 4, 2);
  return content;
}

function answer(body: Buffer, tag = 0x8001): Buffer {
  const header = Buffer.alloc(10);
  header.writeUInt16BE(tag, 0);
  header.writeUInt32BE(10 + body.length, 2);
  return Buffer.concat([header, body]);
}

function areaAnswer(index: number, bytes: number, attributes = ANYONE_READS): Buffer {
  const area = Buffer.alloc(16);
  area.writeUInt16BE(14, 0);
  area.writeUInt32BE(index, 2);
  area.writeUInt16BE(0x000b, 6);
  area.writeUInt32BE(attributes, 8);
  area.writeUInt16BE(bytes, 14);
  return answer(Buffer.concat([area, Buffer.from([0, 0])]));
}

function pieceAnswer(piece: Buffer): Buffer {
  const sizes = Buffer.alloc(6);
  sizes.writeUInt32BE(2 + piece.length, 0);
  sizes.writeUInt16BE(piece.length, 4);
  return answer(Buffer.concat([sizes, piece, Buffer.from("0000000000", "hex")]), 0x8002);
}

/** Reads from a TPM that has these areas. */
function read(areas: Readonly<Record<number, Buffer>>): StoredCertificate {
  const indexes = ASK_WHERE.map((command) => Number.parseInt(command.slice(-8), 16));
  const reading = readingOf(
    indexes.map((index) => (areas[index] === undefined ? NONE : areaAnswer(index, areas[index].length))),
  );
  if ("because" in reading) return reading;
  return reading.read(
    reading.commands.map((command) => {
      // Tag, size, code, who reads, index, authorization, length, offset.
      const [index, length, offset] = [command.slice(28, 36), command.slice(-8, -4), command.slice(-4)].map((hex) =>
        Number.parseInt(hex, 16),
      ) as [number, number, number];
      return pieceAnswer(areas[index]!.subarray(offset, offset + length));
    }),
  );
}

test("a certificate is read in pieces, without what pads it", () => {
  const certificate = der(1_300, 7);
  for (const padding of [0, 1, 300])
    assert.deepEqual(read({ [CERTIFICATE]: Buffer.concat([certificate, Buffer.alloc(padding, 0xff)]) }), {
      der: certificate,
      chain: [],
    });
});

test("the shortest that has a certificate's form is taken as one, and what is shorter is not", () => {
  assert.deepEqual(read({ [CERTIFICATE]: der(4, 0) }), { der: der(4, 0), chain: [] });
  assert.ok("because" in read({ [CERTIFICATE]: der(4, 0).subarray(0, 3) }));
});

test("the issuers' certificates go on over the end of an area, and end where an area is missing", () => {
  const issuers = [der(600, 1), der(700, 2), der(100, 3)];
  const all = Buffer.concat(issuers);
  const areas = { [CERTIFICATE]: der(64, 9), [CHAIN]: all.subarray(0, 650), [CHAIN + 1]: all.subarray(650) };
  const stored = read({ ...areas, [CHAIN + 3]: der(64, 4) });
  assert.deepEqual(stored, { der: der(64, 9), chain: issuers });
});

test("no certificate, one too large, one that nobody may read and bytes that are none differ in what is reported", () => {
  const because = (stored: object): unknown => "because" in stored && stored.because;
  assert.equal(because(read({})), "has no certificate of its maker");
  assert.equal(
    because(read({ [CERTIFICATE]: Buffer.alloc(0) })),
    "has bytes that are no certificate where one should be",
  );
  assert.equal(
    because(read({ [CERTIFICATE]: Buffer.alloc(900, 0xff) })),
    "has bytes that are no certificate where one should be",
  );
  assert.equal(
    because(readingOf([areaAnswer(CERTIFICATE, 65_535)])),
    "has a certificate of 65535 bytes: at most 4096 are read",
  );
  assert.match(
    String(because(readingOf([areaAnswer(CERTIFICATE, 64, 0)]))),
    /area 1c00002 can't be read without a policy/,
  );
  assert.match(String(because(readingOf([areaAnswer(CHAIN, 64)]))), /the answer is about area 1c00100/);
  const owners = readingOf([areaAnswer(CERTIFICATE, 64, OWNER_READS)]);
  assert.ok("commands" in owners && owners.commands[0]!.slice(20, 28) === "40000001");
});

test("however much a chain claims to have, 8 KiB of it are read at most", () => {
  const areas = Object.fromEntries([0, 1, 2, 3].map((at) => [CHAIN + at, der(3_000, at)]));
  const stored = read({ ...areas, [CERTIFICATE]: der(4_096, 9) });
  assert.equal("chain" in stored && stored.chain.length, 2);
});

test("pieces that are missing, cut or refused cost the certificate alone", () => {
  const reading = readingOf([areaAnswer(CERTIFICATE, 600)]);
  assert.ok("commands" in reading);
  const first = pieceAnswer(der(600, 1).subarray(0, 512));
  for (const answers of [[], [first], [first, pieceAnswer(Buffer.alloc(87))], [first, NONE], [first, Buffer.alloc(0)]])
    assert.match(JSON.stringify(reading.read(answers)), /can't be read: /);
});

test("whatever a machine answers, nothing is thrown, and the commands stay few", () => {
  const good = areaAnswer(CERTIFICATE, 700);
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.tuple(fc.nat(good.length - 1), fc.nat(255)).map(([at, value]) => Uint8Array.from(good).with(at, value)),
  );
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 12 }), fc.array(bytes, { maxLength: 4 }), (areas, pieces) => {
      const reading = readingOf(areas);
      if ("because" in reading) return;
      assert.ok(reading.commands.length <= 32, String(reading.commands.length));
      reading.read(pieces);
    }),
    { numRuns: 2_000 },
  );
});
