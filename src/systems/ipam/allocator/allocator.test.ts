import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault, parseIp } from "@slipway/base";
import fc from "fast-check";
import { countOf, hasAddress, minus, readAddresses, textOf } from "./address-set.ts";
import { assign, capacityOf, free, numbersOf, offers, type PoolSpec, readPool } from "./pool.ts";

/** All addresses of a small set, one by one. */
const listed = (texts: readonly string[]): string[] =>
  readAddresses(texts, "spec.addresses").ranges.flatMap(({ first, last }) =>
    Array.from({ length: Number(last - first) + 1 }, (_, i) => textOf(4, first + BigInt(i))),
  );

test("addresses, ranges and prefixes are one set, sorted, each once", () => {
  assert.deepEqual(listed(["10.0.0.6", "10.0.0.0/30", "10.0.0.2-10.0.0.4"]), [
    ...["10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"],
    "10.0.0.6",
  ]);
});

for (const [texts, on, message] of [
  [["10.0.0.1", "10.0.0"], "spec.addresses[1]", /neither IPv4/],
  [["10.0.0.1-10.0.0.2-10.0.0.3"], "spec.addresses[0]", /more than two parts/],
  [["10.0.0.9-10.0.0.1"], "spec.addresses[0]", /ends before it begins/],
  [["10.0.0.1", "fd00::1"], "spec.addresses[1]", /not of IPv4/],
  [["10.0.0.1-fd00::1"], "spec.addresses[0]", /not of IPv4/],
  [["10.0.0.0/33"], "spec.addresses[0]", /neither IPv4/],
] as const)
  test(`refused with its place: ${texts.join(" ")}`, () => {
    assert.throws(
      () => readAddresses(texts, "spec.addresses"),
      (error) => isFault(error, "Invalid") && error.on === on && message.test(error.message),
    );
  });

const small = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 8 }))
    .map(([from, more]) => `10.0.0.${from}-10.0.0.${from + more}`),
  { minLength: 1, maxLength: 6 },
);

test("a set without another is what set arithmetic says, and knows each of its addresses", () => {
  fc.assert(
    fc.property(small, small, (a, b) => {
      const [all, out] = [new Set(listed(a)), new Set(listed(b))];
      const left = minus(readAddresses(a, "a"), readAddresses(b, "b"));
      const expected = [...all].filter((one) => !out.has(one));
      assert.equal(countOf(left), BigInt(expected.length));
      for (let i = 0; i < 80; i++)
        assert.equal(hasAddress(left, parseIp(`10.0.0.${i}`).value), expected.includes(`10.0.0.${i}`), `10.0.0.${i}`);
    }),
  );
  const v6 = readAddresses(["fd00::1"], "a");
  assert.deepEqual(minus(readAddresses(["10.0.0.1"], "a"), v6), readAddresses(["10.0.0.1"], "a"));
});

const spec = (of: Partial<PoolSpec>): PoolSpec => ({ addresses: ["10.0.0.0/24"], prefix: 24, ...of });

for (const [what, of, expected] of [
  ["network and broadcast address are not handed out", {}, { total: 254, first: "10.0.0.1" }],
  ["they are on request", { allocateReservedIPAddresses: true }, { total: 256, first: "10.0.0.0" }],
  ["of each network", { prefix: 25 }, { total: 252, first: "10.0.0.1" }],
  ["a network of two has none reserved", { prefix: 31 }, { total: 256, first: "10.0.0.0" }],
  ["a network of four has two", { prefix: 30 }, { total: 128, first: "10.0.0.1" }],
  ["neither the gateway", { gateway: "10.0.0.1" }, { total: 253, first: "10.0.0.2" }],
  ["a gateway outside of the pool takes nothing", { gateway: "10.0.1.1" }, { total: 254, first: "10.0.0.1" }],
  ["an empty gateway is none", { gateway: "" }, { total: 254, first: "10.0.0.1" }],
  ["nor what is excluded", { excludedAddresses: ["10.0.0.0-10.0.0.9"] }, { total: 245, first: "10.0.0.10" }],
  [
    "an IPv6 network lacks its first address alone",
    { addresses: ["fd00::/120"], prefix: 120 },
    { total: 255, first: "fd00::1" },
  ],
  [
    "a large network is not counted one by one",
    { addresses: ["fd00::/64"], prefix: 64 },
    { total: Number.MAX_SAFE_INTEGER, first: "fd00::1" },
  ],
] as const)
  test(`a pool: ${what}`, () => {
    const pool = readPool(spec(of));
    const { value } = free(pool, new Set()).next();
    assert.equal(textOf(pool.addresses.family, value!), expected.first);
    assert.equal(numbersOf(pool, []).total, expected.total);
    assert.ok(offers(pool, value!));
  });

test("a pool without addresses is one of IPv4 that is used up", () => {
  const pool = readPool(spec({ addresses: [], gateway: "10.0.0.1" }));
  assert.deepEqual(numbersOf(pool, []), { total: 0, free: 0, used: 0, outOfRange: 0 });
  assert.deepEqual([...assign(pool, [], ["a"])], []);
});

for (const [of, on] of [
  [{ gateway: "fd00::1" }, "spec.gateway"],
  [{ gateway: "gate" }, "spec.gateway"],
  [{ prefix: 33 }, "spec.prefix"],
  [{ excludedAddresses: ["x"] }, "spec.excludedAddresses[0]"],
] as const)
  test(`a pool is refused by its ${on}: ${JSON.stringify(of)}`, () => {
    assert.throws(
      () => readPool(spec(of)),
      (error) => isFault(error, "Invalid") && error.on === on,
    );
  });

test("the count is the number of free addresses, whatever is reserved and excluded", () => {
  fc.assert(
    fc.property(
      small,
      small,
      fc.integer({ min: 24, max: 32 }),
      fc.boolean(),
      (addresses, excludedAddresses, prefix, all) => {
        const pool = readPool({ addresses, excludedAddresses, prefix, allocateReservedIPAddresses: all });
        const each = [...free(pool, new Set())];
        assert.equal(capacityOf(pool), BigInt(each.length));
        assert.ok(each.every((value) => offers(pool, value)));
      },
    ),
  );
});

test("no two claims get one address; who has one gets it again; who is left out finds none free", () => {
  const claims = fc.uniqueArray(fc.integer({ min: 0, max: 40 }).map(String), { maxLength: 30 });
  fc.assert(
    fc.property(small, claims, claims, (addresses, first, more) => {
      const pool = readPool({ addresses, prefix: 24 });
      const before = assign(pool, [], first);
      const held = [...before].map(([claim, address]) => ({ claim, address }));
      const after = assign(pool, held, more);
      for (const [claim, address] of before) if (more.includes(claim)) assert.equal(after.get(claim), address);
      const all = new Map([...before, ...after]);
      assert.equal(new Set(all.values()).size, all.size);
      if (after.size < more.length) assert.equal(BigInt(all.size), capacityOf(pool));
    }),
  );
});

test("the pool in numbers counts what is out of its range by itself", () => {
  const pool = readPool(spec({ addresses: ["10.0.0.10-10.0.0.12"] }));
  assert.deepEqual(numbersOf(pool, ["10.0.0.10", "10.0.0.99", "10.0.0.10"]), {
    total: 3,
    free: 2,
    used: 2,
    outOfRange: 1,
  });
});

test("an address that is none, or of the other family, takes nothing from the pool", () => {
  const pool = readPool(spec({ addresses: ["10.0.0.1-10.0.0.2"] }));
  // ::a00:1 is the number of 10.0.0.1.
  const held = ["berth 7", "::a00:1"].map((address, i) => ({ claim: `c-${i}`, address }));
  assert.deepEqual([...assign(pool, held, ["a"])], [["a", "10.0.0.1"]]);
  assert.deepEqual(numbersOf(pool, ["berth 7", "10.0.0.1"]), { total: 2, free: 1, used: 2, outOfRange: 1 });
});
