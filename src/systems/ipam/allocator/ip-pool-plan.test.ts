/** ViNO's own cases of its address management (reference, 4.10), and what it left open. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { allocateIp, allocateIps, checkIpPool, type IpPoolSpec, ipPoolName, releaseIps } from "./ip-pool-plan.ts";
import { formatMac, parseMac } from "./mac.ts";

const V4: IpPoolSpec = {
  subnet: "10.0.0.0/16",
  ranges: [{ start: "10.0.1.0", stop: "10.0.1.9" }],
  allocatedIPs: [],
  macPrefix: "02:00:00:00:00:00",
  nextMAC: "02:00:00:00:00:00",
};
const V6: IpPoolSpec = {
  subnet: "2600:1700:b030:0000::/48",
  ranges: [{ start: "2600:1700:b030:1001::", stop: "2600:1700:b030:1009::" }],
  allocatedIPs: [],
  macPrefix: "06:00:00:00:00:00",
  nextMAC: "06:00:00:00:00:00",
};
const full = (spec: IpPoolSpec, count: number): IpPoolSpec => {
  let next = spec;
  for (let i = 0; i < count; i++) next = allocateIp(next, `owner-${i}`).spec;
  return next;
};

for (const [what, spec, expected] of [
  ["IPv4", V4, { ip: "10.0.1.0", mac: "02:00:00:00:00:00", next: "02:00:00:00:00:01" }],
  [
    "IPv6, by prefixes of 64 bits",
    V6,
    { ip: "2600:1700:b030:1001::", mac: "06:00:00:00:00:00", next: "06:00:00:00:00:01" },
  ],
] as const)
  test(`VINO-11: a new owner gets the first address and the next MAC: ${what}`, () => {
    const { ip, mac, spec: after } = allocateIp(spec, "new", spec.ranges[0]);
    assert.deepEqual({ ip, mac, next: after.nextMAC }, expected);
    assert.deepEqual(after.allocatedIPs, [{ allocatedTo: "new", ip, mac }]);
    assert.deepEqual(spec.allocatedIPs, []);
    const { ip: second } = allocateIp(after, "second");
    assert.equal(second, what === "IPv4" ? "10.0.1.1" : "2600:1700:b030:1002::");
  });

for (const [what, spec, size] of [
  ["IPv4", V4, 10],
  ["IPv6", V6, 9],
] as const)
  test(`the same owner keeps what it has in a full range, another finds none: ${what}`, () => {
    const spent = full(spec, size);
    const again = allocateIp(spent, "owner-3");
    assert.equal(again.spec, spent);
    assert.deepEqual([again.ip, again.mac], [spent.allocatedIPs[3]!.ip, spent.allocatedIPs[3]!.mac]);
    assert.throws(
      () => allocateIp(spent, "other"),
      (error) => isFault(error, "NoCapacity") && /no address is free/.test(error.message),
    );
    const freed = releaseIps(spent, new Set(["owner-3"]));
    assert.equal(allocateIp(freed, "other").ip, again.ip);
  });

test("many owners at once get what they would get one after the other; those that find none are left out", () => {
  const owners = ["x", "owner-1", "y", "x"];
  const { spec, given } = allocateIps(full(V4, 8), owners);
  let next = full(V4, 8);
  for (const owner of owners) next = allocateIp(next, owner).spec;
  assert.deepEqual(spec, next);
  assert.deepEqual([...given.keys()], ["x", "owner-1", "y"]);
  const rest = allocateIps(spec, ["z", "owner-2"]);
  assert.deepEqual([rest.spec === spec, [...rest.given.keys()]], [true, ["owner-2"]]);
});

test("a range that the subnet does not have is named", () => {
  assert.throws(
    () => allocateIp(V4, "new", { start: "10.0.2.0", stop: "10.0.2.9" }),
    (error) => isFault(error, "NotFound") && /10\.0\.2\.0-10\.0\.2\.9/.test(error.message),
  );
  assert.throws(
    () => allocateIp({ ...V4, ranges: [] }, "new"),
    (error) => isFault(error, "NotFound") && /no ranges/.test(error.message),
  );
});

for (const [what, of, on] of [
  ["a range that ends before it begins", { ranges: [{ start: "10.0.1.9", stop: "10.0.1.0" }] }, "spec.ranges[0]"],
  ["a range with a bad start", { ranges: [{ start: "10.0.1", stop: "10.0.1.9" }] }, "spec.ranges[0].start[0]"],
  ["a range with a bad stop", { ranges: [{ start: "10.0.1.1", stop: "x" }] }, "spec.ranges[0].stop[0]"],
  ["a range outside of the subnet", { ranges: [{ start: "10.0.1.1", stop: "10.1.0.0" }] }, "spec.ranges[0]"],
  ["a range of the other family", { ranges: [{ start: "fd00::1", stop: "fd00::2" }] }, "spec.ranges[0]"],
  ["ranges that overlap", { ranges: [...V4.ranges, { start: "10.0.1.9", stop: "10.0.1.20" }] }, "spec.ranges[1]"],
  ["a subnet that is none", { subnet: "10.0.0.0" }, "spec.subnet"],
  ["an empty MAC", { nextMAC: "" }, "spec.nextMAC"],
  ["a MAC of seven bytes", { macPrefix: "02:00:00:00:00:00:00" }, "spec.macPrefix"],
  [
    "one address for two",
    {
      allocatedIPs: [
        { allocatedTo: "a", ip: "10.0.1.0", mac: "02:00:00:00:00:01" },
        { allocatedTo: "b", ip: "10.0.1.0", mac: "02:00:00:00:00:02" },
      ],
    },
    "spec.allocatedIPs[1]",
  ],
  [
    "an address that is none",
    { allocatedIPs: [{ allocatedTo: "a", ip: "10.0.1.256", mac: "02:00:00:00:00:00" }] },
    "spec.allocatedIPs[0].ip[0]",
  ],
  [
    "a MAC that is none",
    { allocatedIPs: [{ allocatedTo: "a", ip: "10.0.1.0", mac: "02:00:00" }] },
    "spec.allocatedIPs[0].mac",
  ],
  [
    "one MAC for two",
    {
      allocatedIPs: [
        { allocatedTo: "a", ip: "10.0.1.0", mac: "02:00:00:00:00:0A" },
        { allocatedTo: "b", ip: "10.0.1.1", mac: "02:00:00:00:00:0a" },
      ],
    },
    "spec.allocatedIPs[1]",
  ],
] as const)
  test(`VINO-11: refused with its place: ${what}`, () => {
    assert.throws(
      () => checkIpPool({ ...V4, ...of } as IpPoolSpec),
      (error) => isFault(error, "Invalid") && error.on === on,
    );
  });

test("a right pool passes, with ranges side by side", () => {
  checkIpPool({ ...full(V4, 3), ranges: [...V4.ranges, { start: "10.0.1.10", stop: "10.0.1.20" }] });
  checkIpPool(V6);
});

test("a MAC address that is in use is passed over, and the last one is not exceeded", () => {
  const { mac, spec } = allocateIp(
    { ...V4, allocatedIPs: [{ allocatedTo: "a", ip: "10.0.1.5", mac: V4.nextMAC }] },
    "b",
  );
  assert.deepEqual([mac, spec.nextMAC], ["02:00:00:00:00:01", "02:00:00:00:00:02"]);
  assert.throws(() => formatMac(1n << 48n), RangeError);
  assert.throws(
    () => allocateIp({ ...V4, nextMAC: "ff:ff:ff:ff:ff:ff" }, "c"),
    (error) => isFault(error, "NoCapacity") && /no MAC address is left/.test(error.message),
  );
});

test("MAC addresses are numbers, in network order", () => {
  assert.equal(parseMac("00:00:00:00:01:01", "f"), 0x101n);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 48n) - 1n }), (value) =>
      assert.equal(parseMac(formatMac(value), "f"), value),
    ),
  );
});

test("names of pools follow from their subnets", () => {
  assert.equal(ipPoolName("192.168.0.0/24"), "ippool-192-168-0-0-24");
  assert.equal(ipPoolName("0001:0000:0000:0001::/32"), "ippool-0001-0000-0000-0001---32");
});

test("giving back touches nobody else's, and blocks go with their owner", () => {
  const spec = { ...full(V4, 3), allocatedRanges: [{ allocatedTo: "owner-1", start: "10.0.1.8", stop: "10.0.1.9" }] };
  const after = releaseIps(spec, new Set(["owner-1"]));
  assert.deepEqual(
    after.allocatedIPs.map(({ allocatedTo }) => allocatedTo),
    ["owner-0", "owner-2"],
  );
  assert.deepEqual(after.allocatedRanges, []);
  assert.equal(releaseIps(spec, new Set(["nobody"])), spec);
});

test("an owner that is named twice at once gets one address", () => {
  const { spec, given } = allocateIps(V4, ["a", "b", "a"]);
  assert.deepEqual([...given.values()].map(({ ip }) => ip).sort(), ["10.0.1.0", "10.0.1.1"]);
  assert.equal(spec.allocatedIPs.length, 2);
});

test("the order of ranges does not matter: the lowest address is given first, and an overlap is found", () => {
  const ranges = [{ start: "10.0.1.20", stop: "10.0.1.29" }, { start: "10.0.1.10", stop: "10.0.1.19" }, ...V4.ranges];
  assert.equal(allocateIp({ ...V4, ranges }, "a").ip, "10.0.1.0");
  const overlapping = [...ranges, { start: "10.0.1.5", stop: "10.0.1.6" }];
  assert.throws(() => checkIpPool({ ...V4, ranges: overlapping }), { code: "Invalid", on: "spec.ranges[3]" });
});
