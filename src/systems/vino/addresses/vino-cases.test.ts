/**
 * ViNO's own cases of its address management, which it numbers in no way: VINO-T5 to VINO-T46 are they, in the order of its test functions (VINO-T1 to
 * VINO-T4, of its DaemonSet, are beside the agent's). Where the outcome is not ViNO's, the name says so.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, formatIp, isFault, parseIp, quietLog } from "@slipway/base";
import type { Context, Ref } from "@slipway/kube";
import type { IPPool } from "../../../kinds/ipam/ip-pool.ts";
import type { Vino } from "../../../kinds/vino/vino.ts";
import { allocateIp, checkIpPool, type IpPoolSpec, ipPoolName } from "../../ipam/allocator/ip-pool-plan.ts";
import { formatMac, parseMac } from "../../ipam/allocator/mac.ts";
import { readSpecification } from "../plan/specification.ts";
import { settle, type Wish } from "./book.ts";
import { Pools } from "./pools.ts";

const NAMESPACE = "vino-system";
const MAC = "02:00:00:00:00:00";

/** A pool with one range, and its addresses in the hands of these owners. */
function pool(
  subnet: string,
  [start, stop]: readonly [string, string],
  { owners = [], mac = MAC }: { owners?: readonly string[]; mac?: string } = {},
): IpPoolSpec {
  let spec: IpPoolSpec = { subnet, ranges: [{ start, stop }], allocatedIPs: [], macPrefix: mac, nextMAC: mac };
  for (const owner of owners) spec = allocateIp(spec, owner).spec;
  return spec;
}

/** What a node asks of one network. */
function wish(subnet: string, [start, stop]: readonly [string, string], macPrefix?: string): Wish {
  const network = {
    ...{ name: "net", subnet, bridgeName: "br", macPrefix },
    ...{ staticAllocationStart: start, staticAllocationStop: stop },
  };
  const { networks } = readSpecification({ spec: { networks: [network] } } as unknown as Vino);
  return { owner: "sea/whale/a", networks, interfaces: new Map(), keeps: () => false, isTold: () => true };
}

const V4 = pool("10.0.0.0/16", ["10.0.1.0", "10.0.1.9"]);
/** ViNO's case is of a /72, beyond which its own range lies: here such a range is refused. */
const V6 = pool("2600:1700:b030::/48", ["2600:1700:b030::", "2600:1700:b030:9::"], { mac: "06:00:00:00:00:00" });
const FULL_V4 = pool("192.168.0.0/16", ["192.168.0.0", "192.168.0.0"], { owners: ["old"] });
const FULL_V6 = pool("2600:1700:b031::/64", ["2600:1700:b031::", "2600:1700:b031::"], { owners: ["old"] });

test("VINO-T5 VINO-T6 a new owner has the first address of the pool's range and its first MAC address", () => {
  assert.partialDeepStrictEqual(allocateIp(V4, "new", V4.ranges[0]), { ip: "10.0.1.0", mac: MAC });
  assert.partialDeepStrictEqual(allocateIp(V6, "new"), { ip: "2600:1700:b030::", mac: "06:00:00:00:00:00" });
  const beyond = { ...V6, subnet: "2600:1700:b030::/72" };
  assert.throws(() => allocateIp(beyond, "new"), /2600:1700:b030::-2600:1700:b030:9:: is not within/);
});

test("VINO-T7 VINO-T8 a subnet that has no pool gets one: a node asks, and no one has to be there before", () => {
  const book = new Map([[ipPoolName(V4.subnet), { spec: V4, isOwn: true }]]);
  for (const [subnet, statics] of [
    ["10.9.0.0/20", ["10.9.1.0", "10.9.1.9"]],
    ["2600:1700:b030::/80", ["2600:1700:b030::1", "2600:1700:b030::9"]],
  ] as const) {
    const { given, book: after } = settle(book, wish(subnet, statics));
    assert.deepEqual([given.missing, given.bridges.get("net")?.ip], [[], statics[0]]);
    assert.deepEqual([...after.keys()], [ipPoolName(V4.subnet), ipPoolName(subnet)]);
  }
});

test("VINO-T9 VINO-T10 a range that the pool does not have is named", () => {
  for (const [spec, start, stop] of [
    [V4, "10.0.2.0", "10.0.2.9"],
    [V6, "2600:1700:b030::", "2600:1700:b030:1111::"],
  ] as const)
    assert.throws(
      () => allocateIp(spec, "new", { start, stop }),
      (error) => isFault(error, "NotFound") && error.message.includes(`${start}-${stop}`),
    );
});

test("VINO-T11 an owner keeps its addresses in a range that is full", () => {
  assert.partialDeepStrictEqual(allocateIp(FULL_V4, "old", FULL_V4.ranges[0]), { ip: "192.168.0.0", mac: MAC });
  assert.equal(allocateIp(FULL_V4, "old").spec, FULL_V4);
});

test("VINO-T12 VINO-T13 another owner finds no address in a range that is full", () => {
  for (const spec of [FULL_V4, FULL_V6])
    assert.throws(
      () => allocateIp(spec, "new", spec.ranges[0]),
      (error) => isFault(error, "NoCapacity") && error.message.includes(spec.ranges[0]!.start),
    );
});

const refusedAt = (start: string, stop: string): string | undefined => {
  try {
    checkIpPool(pool("10.0.0.0/16", [start, stop]));
    return undefined;
  } catch (error) {
    return (error as Fault).on;
  }
};
test("VINO-T14 VINO-T15 VINO-T16 VINO-T17 a range is taken as it is written, and refused where it ends before it begins or has no address", () => {
  assert.equal(refusedAt("10.0.0.1", "10.0.0.2"), undefined);
  assert.equal(refusedAt("10.0.0.2", "10.0.0.1"), "spec.ranges[0]");
  assert.equal(refusedAt("10.0.0.2.x", "10.0.0.1"), "spec.ranges[0].start[0]");
  assert.equal(refusedAt("10.0.0.2", "10.0.0.1.x"), "spec.ranges[0].stop[0]");
});

test("VINO-T18 VINO-T19 VINO-T20 a pool takes a second range; a MAC address that is none, and another prefix, are refused", () => {
  const name = ipPoolName(V4.subnet);
  const book = new Map([[name, { spec: V4, isOwn: false }]]);
  const second = ["10.0.2.0", "10.0.2.9"] as const;
  const { book: after } = settle(book, wish(V4.subnet, second));
  assert.deepEqual(
    after.get(name)!.spec.ranges.map(({ start }) => start),
    ["10.0.1.0", "10.0.2.0"],
  );
  assert.throws(() => checkIpPool({ ...V4, macPrefix: "" }), /"" is no MAC address/);
  const { given } = settle(book, wish(V4.subnet, second, "06:00:00:00:00:00"));
  assert.match(given.missing.join(), /begin with 02:00:00:00:00:00, which is immutable/);
});

test("VINO-T21 VINO-T22 VINO-T23 VINO-T24 of several ranges the asked one is looked through, in both families", () => {
  const two: IpPoolSpec = { ...V4, ranges: [...V4.ranges, { start: "10.0.2.0", stop: "10.0.2.0" }] };
  const spent = allocateIp(two, "old", two.ranges[1]).spec;
  assert.equal(allocateIp(spent, "new", two.ranges[0]).ip, "10.0.1.0");
  assert.throws(() => allocateIp(spent, "new", two.ranges[1]), { code: "NoCapacity" });
  const six = pool("2600:1700:b030::/44", ["2600:1700:b030:1001::", "2600:1700:b030:1009::"]);
  assert.equal(allocateIp(six, "new").ip, "2600:1700:b030:1001::");
  assert.throws(() => allocateIp(FULL_V6, "new"), { code: "NoCapacity" });
});

test("VINO-T25 VINO-T26 VINO-T27 addresses of nobody, of one owner and of two are passed over", () => {
  for (const [owners, next] of [
    [[], "10.0.1.0"],
    [["a"], "10.0.1.1"],
    [["a", "b"], "10.0.1.2"],
  ] as const)
    assert.equal(allocateIp(pool("10.0.0.0/16", ["10.0.1.0", "10.0.1.9"], { owners }), "new").ip, next);
});

test("VINO-T28 VINO-T29 VINO-T30 VINO-T31 addresses are numbers of their family's whole length; what is none is refused", () => {
  assert.equal(parseIp("1.0.0.1").value, 2n ** 24n + 1n);
  assert.throws(() => parseIp("1.0.0.1.1"), RangeError);
  assert.equal(parseIp("0001:0000:0000:0001::").value >> 64n, 2n ** 48n + 1n);
  assert.throws(() => parseIp("1000:0000:0000:foobar::"), RangeError);
});

test("VINO-T32 VINO-T33 VINO-T34 a MAC address has six bytes", () => {
  assert.equal(parseMac("00:00:00:00:01:01", "f"), 0x101n);
  for (const wrong of ["00:00:00:00:00:01:01", ""]) assert.throws(() => parseMac(wrong, "f"), { code: "Invalid" });
});

const V4_NUMBERS = [
  [0n, "0.0.0.0"],
  [2n ** 32n - 1n, "255.255.255.255"],
  [512n, "0.0.2.0"],
] as const;
test("VINO-T35 VINO-T36 VINO-T37 numbers become addresses and MAC addresses in network order", () => {
  for (const [value, text] of V4_NUMBERS) assert.equal(formatIp({ family: 4, value }), text);
  assert.equal(formatMac(512n), "00:00:00:00:02:00");
});
test("VINO-T38 VINO-T39 VINO-T40 addresses and MAC addresses become numbers in network order", () => {
  for (const [value, text] of V4_NUMBERS) assert.equal(parseIp(text).value, value);
  assert.equal(parseMac("00:00:00:00:02:00", "f"), 512n);
});

test("VINO-T41 VINO-T42 a pool's name follows from its subnet", () => {
  assert.equal(ipPoolName("192.168.0.0/24"), "ippool-192-168-0-0-24");
  assert.equal(ipPoolName("0001:0000:0000:0001::/32"), "ippool-0001-0000-0000-0001---32");
});

/** An API with these pools that refuses writes with this, if with anything. Says what it was asked. */
function apiOf(of: readonly IPPool[], refuses?: Fault) {
  const asked: string[] = [];
  const pools = new Map(of.map((one) => [one.metadata.name, one]));
  const write = (what: string, written: IPPool): void => {
    asked.push(what);
    if (refuses !== undefined) throw refuses;
    pools.set(written.metadata.name, written);
  };
  const client = {
    list: async () => ({ items: [...pools.values()] }),
    create: async (_: object, { metadata, spec }: IPPool) =>
      write("create", { metadata: { ...metadata, resourceVersion: "1" }, spec } as IPPool),
    patch: async (_: object, { name }: Ref, { body }: { body: IPPool }) => {
      const before = pools.get(name)!;
      write(`patch ${body.metadata.resourceVersion}`, { ...before, spec: { ...before.spec, ...body.spec } });
    },
  };
  return { asked, context: { client, cache: { list: () => of }, log: quietLog } as unknown as Context };
}
const live = (spec: IpPoolSpec): IPPool => {
  const name = ipPoolName(spec.subnet);
  return { metadata: { namespace: NAMESPACE, name, uid: name, resourceVersion: "1" }, spec } as IPPool;
};
const ASKED = wish("10.0.0.0/16", ["10.0.1.0", "10.0.1.9"]);

test("VINO-T43 VINO-T44 VINO-T45 a pool that is missing is created, one that is there is changed under its version, and a refusal is an error", async () => {
  const missing = apiOf([]);
  await new Pools(NAMESPACE).settle(missing.context, ASKED);
  assert.deepEqual(missing.asked, ["create"]);
  const there = apiOf([live(V4)]);
  await new Pools(NAMESPACE).settle(there.context, ASKED);
  assert.deepEqual(there.asked, ["patch 1"]);
  const refusing = apiOf([live(V4)], new Fault("Invalid", "ippools", "bad things happened"));
  await assert.rejects(new Pools(NAMESPACE).settle(refusing.context, ASKED), /bad things happened/);
});

test("VINO-T46 pools are found by their subnets", async () => {
  const other = pool("10.7.0.0/16", ["10.7.1.0", "10.7.1.9"], { owners: ["sea/else/b"], mac: "06:00:00:00:00:00" });
  const { context } = apiOf([
    live(other),
    live(pool("10.0.0.0/16", ["10.0.1.0", "10.0.1.9"], { owners: ["sea/else/b"] })),
  ]);
  const { bridges } = await new Pools(NAMESPACE).settle(context, ASKED);
  assert.equal(bridges.get("net")?.ip, "10.0.1.1");
});
