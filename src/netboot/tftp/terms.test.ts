import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Option } from "./packet.ts";
import { agree, type Limits } from "./terms.ts";

const LIMITS: Limits = { blockBytes: 1468, window: 64 };

test("N21 what firmware asks for is granted: OVMF's probe, OVMF's transfer, iPXE, curl", () => {
  const acknowledged = (...asked: Option[]) => agree(asked, 850_000, LIMITS).acknowledged;

  assert.deepEqual(acknowledged(["tsize", "0"], ["blksize", "1468"], ["windowsize", "4"]), [
    ["blksize", "1468"],
    ["tsize", "850000"],
    ["windowsize", "4"],
  ]);
  assert.deepEqual(acknowledged(["blksize", "1432"], ["tsize", "0"]), [
    ["blksize", "1432"],
    ["tsize", "850000"],
  ]);
  assert.deepEqual(acknowledged(["tsize", "0"], ["blksize", "512"], ["timeout", "6"]), [
    ["blksize", "512"],
    ["tsize", "850000"],
    ["timeout", "6"],
  ]);
});

test("a block never exceeds what the network carries in one frame", () => {
  assert.equal(agree([["blksize", "65464"]], 0, LIMITS).blockBytes, 1468);
  assert.equal(agree([["blksize", "65464"]], 0, { ...LIMITS, blockBytes: 1450 }).blockBytes, 1450);
});

test("without options the transfer is plain RFC 1350, and nothing is acknowledged", () => {
  const terms = { blockBytes: 512, window: 1, timeoutMs: undefined, sized: false, acknowledged: [] };

  assert.deepEqual(agree([], 1, LIMITS), terms);
  assert.deepEqual(
    agree(
      [
        ["blksize", "7"],
        ["windowsize", "0"],
        ["timeout", "255"],
        ["multicast", ""],
      ],
      1,
      LIMITS,
    ),
    terms,
  );
});

test("names of options are read in any case; the first of two counts", () => {
  const asked: Option[] = [
    ["BlkSize", "1024"],
    ["blksize", "600"],
  ];

  assert.deepEqual(agree(asked, 0, LIMITS).acknowledged, [["blksize", "1024"]]);
});

test("whatever is asked, nothing is granted beyond it or beyond the limits, and a window stays under 96 KiB", () => {
  const name = fc.constantFrom("blksize", "windowsize", "timeout", "WINDOWSIZE", "other");
  const value = fc.oneof(fc.nat(100_000).map(String), fc.string({ maxLength: 8 }));
  const limits = fc.record({
    blockBytes: fc.integer({ min: 512, max: 65_464 }),
    window: fc.integer({ min: 1, max: 1024 }),
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), limits, (asked, most) => {
      const terms = agree(asked, 0, most);
      for (const [granted, amount] of terms.acknowledged) {
        const first = asked.find(([n, v]) => n.toLowerCase() === granted && /^\d+$/.test(v));
        assert.ok(first !== undefined && Number(amount) <= Number(first[1]), `${granted}=${amount}`);
      }
      assert.ok(terms.blockBytes <= Math.max(512, most.blockBytes) && terms.window <= most.window);
      assert.ok(terms.window === 1 || terms.window * terms.blockBytes <= 96 * 1024);
    }),
  );
});
