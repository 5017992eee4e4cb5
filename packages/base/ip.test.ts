import assert from "node:assert/strict";
import { isIP } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import {
  addIp,
  addresses,
  canonicalIp,
  compareIps,
  contains,
  formatCidr,
  formatIp,
  type Ip,
  ipBytes,
  ipFromBytes,
  netmask,
  networkOf,
  overlaps,
  parseCidr,
  parseIp,
  rangeOf,
  tryParseCidr,
  tryParseIp,
} from "./ip.ts";

const ip4 = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((value): Ip => ({ family: 4, value }));
const group = fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 0xffffn }));
const ip6 = fc
  .array(group, { minLength: 8, maxLength: 8 })
  .map((groups): Ip => ({ family: 6, value: groups.reduce((sum, g) => (sum << 16n) | g, 0n) }));
const ip = fc.oneof(ip4, ip6);

test("an address is read back from its text and from its bytes", () => {
  fc.assert(
    fc.property(ip, (value) => {
      assert.deepEqual(parseIp(formatIp(value)), value);
      assert.deepEqual(ipFromBytes(ipBytes(value)), value);
      assert.equal(isIP(formatIp(value)), value.family);
    }),
  );
});

test("RFC 5952: IPv6 is written in its one recommended form", () => {
  const cases: [string, string][] = [
    ["2001:0db8:0000:0000:0001:0000:0000:0001", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:DB8::AA", "2001:db8::aa"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    ["::ffff:192.0.2.1", "::ffff:192.0.2.1"],
    ["::ffff:c000:201", "::ffff:192.0.2.1"],
    ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
  ];
  for (const [text, expected] of cases) assert.equal(canonicalIp(text), expected);
});

test("any text is an address exactly when the platform says so", () => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom(..."0123456789abcdefF:."), maxLength: 24 }),
    fc
      .array(fc.constantFrom("", "0", "00", "1", "01", "255", "256", "abcd", "12345", "1.2.3.4"), { maxLength: 9 })
      .map((a) => a.join(":")),
    fc.array(fc.constantFrom("0", "00", "1", "01", "255", "256", ""), { maxLength: 5 }).map((a) => a.join(".")),
  );
  fc.assert(fc.property(text, (value) => assert.equal(tryParseIp(value)?.family ?? 0, isIP(value))));
});

test("what is no address or prefix is refused and named", () => {
  for (const text of ["", "1.2.3", "1.2.3.04", "1.2.3.256", ":::", "1::2::3", "fe80::1%eth0", "g::", " 1.2.3.4"]) {
    assert.throws(() => parseIp(text), /^RangeError: IP address ".*": neither/);
  }
  for (const text of [
    "10.0.0.0",
    "10.0.0.0/33",
    "10.0.0.0/08",
    "10.0.0.0/-1",
    "::/129",
    "/24",
    "a/24",
    "10.0.0.0/24/1",
  ]) {
    assert.throws(() => parseCidr(text), /^RangeError: CIDR ".*": not an address/);
    assert.equal(tryParseCidr(text), undefined);
  }
});

test("a prefix knows its network, its ends and its mask", () => {
  const cidr = parseCidr("10.1.2.77/26");
  const { first, last } = rangeOf(cidr);

  assert.equal(formatCidr(cidr), "10.1.2.77/26");
  assert.equal(formatCidr(networkOf(cidr)), "10.1.2.64/26");
  assert.deepEqual([formatIp(first), formatIp(last)], ["10.1.2.64", "10.1.2.127"]);
  assert.deepEqual([netmask(26), netmask(0), netmask(32)], ["255.255.255.192", "0.0.0.0", "255.255.255.255"]);
  assert.equal(formatCidr(networkOf(parseCidr("2001:db8::1/32"))), "2001:db8::/32");
  assert.throws(() => netmask(33), /prefix length 33/);
});

test("an address lies in a prefix exactly when it is between its ends", () => {
  fc.assert(
    fc.property(ip, ip, fc.nat(128), (base, other, length) => {
      const prefix = base.family === 4 ? length % 33 : length;
      const cidr = { address: base, prefix };
      const { first, last } = rangeOf(cidr);
      const inside = other.family === base.family && compareIps(first, other) <= 0 && compareIps(other, last) <= 0;
      assert.equal(contains(cidr, other), inside);
      assert.ok(contains(cidr, first) && contains(cidr, last) && contains(cidr, networkOf(cidr)));
    }),
  );
});

test("prefixes overlap exactly when one contains the other", () => {
  assert.equal(overlaps(parseCidr("10.0.0.0/8"), parseCidr("10.2.0.0/16")), true);
  assert.equal(overlaps(parseCidr("10.2.0.0/16"), parseCidr("10.0.0.0/8")), true);
  assert.equal(overlaps(parseCidr("10.0.0.0/16"), parseCidr("10.1.0.0/16")), false);
  assert.equal(overlaps(parseCidr("::/0"), parseCidr("0.0.0.0/0")), false);
});

test("a range is walked lazily, ends included", () => {
  const walk = (a: string, b: string) => [...addresses(parseIp(a), parseIp(b))].map(formatIp);

  assert.deepEqual(walk("10.0.0.254", "10.0.1.1"), ["10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1"]);
  assert.deepEqual(walk("10.0.0.2", "10.0.0.1"), []);
  assert.deepEqual(walk("10.0.0.1", "::1"), []);
  const whole = rangeOf(parseCidr("::/0"));
  assert.equal(formatIp(addresses(whole.first, whole.last).next().value!), "::");
  assert.throws(() => addIp(parseIp("255.255.255.255"), 1n), /is no address/);
  assert.throws(() => addIp(parseIp("0.0.0.0"), -1n), /is no address/);
  assert.equal(formatIp(addIp(parseIp("0.0.0.1"), -1n)), "0.0.0.0");
  assert.equal(formatIp(addIp(parseIp("255.255.255.254"), 1n)), "255.255.255.255");
});
