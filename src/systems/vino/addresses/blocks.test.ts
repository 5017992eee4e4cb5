import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuGrowth, MAX_GROWTH } from "@slipway/base/testing";
import fc from "fast-check";
import type { IpPoolSpec } from "../../ipam/allocator/ip-pool-plan.ts";
import { block, withoutBlock } from "./blocks.ts";

const pool = (allocatedRanges: IpPoolSpec["allocatedRanges"], ranges: IpPoolSpec["ranges"] = []): IpPoolSpec => ({
  ...{ subnet: "10.0.0.0/8", ranges, allocatedIPs: [], macPrefix: "02:00:00:00:00:00", nextMAC: "02:00:00:00:00:00" },
  ...(allocatedRanges && { allocatedRanges }),
});
/** The numbers of addresses below 10.0.0.0/16, from the first to the last. */
const range = (first: number, last: number) => ({ start: ip(first), stop: ip(last) });
const ip = (n: number): string => `10.0.${n >> 8}.${n & 255}`;
const numberOf = (text: string): number => Number(text.split(".")[2]) * 256 + Number(text.split(".")[3]);
const within = (first: number, last: number) => ({ bounds: range(first, last), bits: 2 });

test("a block begins at a multiple of its size and overlaps nothing, and it is the first such: compared with a search of all", () => {
  const spans = fc.array(
    fc.tuple(fc.nat(60), fc.nat(9)).map(([first, more]) => [first, first + more] as const),
    { maxLength: 6 },
  );
  const world = fc.record({ blocks: spans, ranges: spans, others: spans, first: fc.nat(20), more: fc.nat(50) });
  fc.assert(
    fc.property(world, ({ blocks, ranges, others, first, more }) => {
      const spec = pool(
        blocks.map(([a, b], at) => ({ allocatedTo: `o${at}`, ...range(a, b) })),
        ranges.map(([a, b]) => range(a, b)),
      );
      const other = pool(
        undefined,
        others.map(([a, b]) => range(a, b)),
      );
      const taken = [...blocks, ...ranges, ...others];
      const isFree = (at: number): boolean => taken.every(([a, b]) => b < at || a > at + 3);
      const last = first + more;
      let expected: number | undefined;
      for (let at = first; at + 3 <= last && expected === undefined; at += 4) if (isFree(at)) expected = at;
      const found = block(spec, { owner: "new", ...within(first, last) }, [other]).block;
      assert.equal(found && numberOf(found.start), expected);
      if (found !== undefined) assert.equal(numberOf(found.stop), expected! + 3);
    }),
    { numRuns: 300 },
  );
});

test("an owner keeps its block while it fits, and gets another one where the range or the size has changed", () => {
  const { spec, block: first } = block(pool(undefined), { owner: "a", ...within(0, 31) }, []);
  assert.deepEqual(block(spec, { owner: "a", ...within(0, 31) }, []), { spec, block: first });
  const moved = block(spec, { owner: "a", ...within(16, 31) }, []);
  assert.deepEqual(moved.block, range(16, 19));
  assert.deepEqual(moved.spec.allocatedRanges, [{ allocatedTo: "a", ...range(16, 19) }]);
  assert.deepEqual(block(spec, { owner: "a", bounds: range(0, 31), bits: 3 }, []).block, range(0, 7));
});

test("without a block the pool is the same object; with one, only that one goes", () => {
  const spec = pool([
    { allocatedTo: "a", ...range(0, 3) },
    { allocatedTo: "b", ...range(4, 7) },
  ]);
  assert.equal(withoutBlock(spec, "c"), spec);
  assert.deepEqual(withoutBlock(spec, "a").allocatedRanges, [{ allocatedTo: "b", ...range(4, 7) }]);
});

test("twice as many blocks cost no more than 2.5 times the work", () => {
  const growth = cpuGrowth((n) => {
    const spec = pool(
      Array.from({ length: n }, (_, at) => ({
        allocatedTo: `o${at}`,
        ...{ start: `10.${at >> 8}.${at & 255}.0`, stop: `10.${at >> 8}.${at & 255}.255` },
      })),
    );
    const bounds = { start: "10.0.0.0", stop: "10.255.255.255" };
    return () => void assert.ok(block(spec, { owner: "new", bounds, bits: 8 }, []).block !== undefined);
  }, 4_000);
  assert.ok(growth <= MAX_GROWTH, `${growth}`);
});
