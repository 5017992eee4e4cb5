/** ViNO's IPPool: its specification is its state. Each function takes one and gives the next; the API's optimistic lock keeps two writers apart. Pure. */
import { contains, Fault, parseCidr, parseIp, rangeOf } from "@slipway/base";
import type { IPPool } from "../../../kinds/ipam/ip-pool.ts";
import { type AddressSet, readAddresses, textOf } from "./address-set.ts";
import { formatMac, parseMac } from "./mac.ts";
import { free, type Pool } from "./pool.ts";

export type IpPoolSpec = IPPool["spec"];

export interface Bounds {
  start: string;
  stop: string;
}

/** What is handed out of an IPv6 subnet that has several: prefixes of 64 bits, by their first address. */
const IPV6_STEP = 1n << 64n;

const LAST_MAC = (1n << 48n) - 1n;

/** Name of the IPPool of a subnet: `10.0.0.0/16` → `ippool-10-0-0-0-16`. */
export const ipPoolName = (subnet: string): string => `ippool-${subnet.replace(/[:./]/g, "-")}`;

/**
 * Reads a specification, with the addresses of one of its ranges or of all. Throws a `Fault`: `Invalid` names what can't be (a subnet that is
 * none, a range outside of it, backwards, or that overlaps another), `NotFound` a range that the pool does not have.
 */
export function readIpPool(spec: IpPoolSpec, only?: Bounds): Pool {
  const subnet = readSubnet(spec.subnet);
  const ranges = spec.ranges.map((range, index) => readRange(range, subnet, `spec.ranges[${index}]`));
  const sorted = ranges.toSorted((a, b) => (a.first < b.first ? -1 : 1));
  for (const [index, range] of sorted.entries()) {
    const before = sorted[index - 1];
    if (before !== undefined && range.first <= before.last)
      throw new Fault("Invalid", range.field, `it overlaps ${before.field}`, {
        remedy: "give each address to one range",
      });
  }
  const { family } = subnet.address;
  const of = only && readRange(only, subnet, `range ${only.start}-${only.stop}`);
  const taken = of === undefined ? sorted : sorted.filter(({ first, last }) => first === of.first && last === of.last);
  if (taken.length === 0)
    throw new Fault("NotFound", spec.subnet, of === undefined ? "it has no ranges" : `it has no ${of.field}`, {
      remedy: "add it to spec.ranges",
    });
  const addresses: AddressSet = { family, ranges: taken.map(({ first, last }) => ({ first, last })) };
  return {
    addresses,
    reservedPer: undefined,
    step: family === 4 || subnet.prefix >= 64 ? 1n : IPV6_STEP,
    prefix: subnet.prefix,
    gateway: undefined,
  };
}

function readSubnet(text: string) {
  try {
    return parseCidr(text);
  } catch (cause) {
    throw new Fault("Invalid", "spec.subnet", (cause as Error).message, { cause });
  }
}

function readRange({ start, stop }: Bounds, subnet: ReturnType<typeof parseCidr>, field: string) {
  const { ranges } = readAddresses([start], `${field}.start`);
  const { ranges: end } = readAddresses([stop], `${field}.stop`);
  const [first, last] = [ranges[0]!.first, end[0]!.first];
  const [from, to] = [parseIp(start), parseIp(stop)];
  if (!contains(subnet, from) || !contains(subnet, to)) {
    const all = rangeOf(subnet);
    throw new Fault(
      "Invalid",
      field,
      `${start}-${stop} is not within ${textOf(all.first.family, all.first.value)}-${textOf(all.last.family, all.last.value)}`,
    );
  }
  if (last < first) throw new Fault("Invalid", field, `${start}-${stop} ends before it begins`);
  return { first, last, field };
}

/** Checks all of a specification. Throws as `readIpPool` does, and for MAC addresses, and for addresses or MACs that two have. */
export function checkIpPool(spec: IpPoolSpec): void {
  readIpPool(spec);
  parseMac(spec.macPrefix, "spec.macPrefix");
  parseMac(spec.nextMAC, "spec.nextMAC");
  const seen = new Map<string, string>();
  for (const [index, { ip, mac, allocatedTo }] of spec.allocatedIPs.entries()) {
    const at = `spec.allocatedIPs[${index}]`;
    readAddresses([ip], `${at}.ip`);
    parseMac(mac, `${at}.mac`);
    for (const one of [`address ${ip}`, `MAC ${mac.toLowerCase()}`]) {
      const other = seen.get(one);
      if (other !== undefined && other !== allocatedTo)
        throw new Fault("Invalid", at, `${allocatedTo} and ${other} have the same ${one}`, {
          remedy: "take it from one of the two; it gets another",
        });
      seen.set(one, allocatedTo);
    }
  }
}

export interface Allocated {
  spec: IpPoolSpec;
  ip: string;
  mac: string;
}

/**
 * An address and a MAC address for an owner, from one range or from all: the same again for one that has them, even where the range is full. The
 * lowest address that is free; the next MAC address, past those in use. Throws a `Fault`: `NoCapacity`, or as `readIpPool`.
 */
export function allocateIp(spec: IpPoolSpec, owner: string, range?: Bounds): Allocated {
  const { spec: after, given } = allocateIps(spec, [owner], range);
  const mine = given.get(owner);
  if (mine === undefined)
    throw new Fault(
      "NoCapacity",
      `${spec.subnet}${range ? ` ${range.start}-${range.stop}` : ""}`,
      "no address is free",
      {
        remedy: "add a range, or free addresses",
      },
    );
  return { spec: after, ip: mine.ip, mac: mine.mac };
}

type AllocatedIp = IpPoolSpec["allocatedIPs"][number];

/**
 * As `allocateIp`, for several owners, in time that grows with all of them together. Owners that are left out found no free address. `takenMacs`: MAC
 * addresses of other pools, which are not given here.
 */
export function allocateIps(
  spec: IpPoolSpec,
  owners: readonly string[],
  range?: Bounds,
  takenMacs: ReadonlySet<bigint> = new Set(),
): { spec: IpPoolSpec; given: Map<string, AllocatedIp> } {
  const pool = readIpPool(spec, range);
  const held = new Map(spec.allocatedIPs.map((one) => [one.allocatedTo, one]));
  const next = free(pool, new Set(spec.allocatedIPs.map(({ ip }) => parseIp(ip).value)));
  const macs = new Set(spec.allocatedIPs.map(({ mac }) => parseMac(mac, "spec.allocatedIPs.mac")));
  let nextMac = parseMac(spec.nextMAC, "spec.nextMAC");
  const given = new Map<string, AllocatedIp>();
  const added: AllocatedIp[] = [];
  for (const owner of owners) {
    const mine = held.get(owner) ?? given.get(owner);
    if (mine !== undefined) {
      given.set(owner, mine);
      continue;
    }
    const { value, done } = next.next();
    if (done === true) continue;
    while (macs.has(nextMac) || takenMacs.has(nextMac)) nextMac++;
    // The one after it must be a MAC address, too: it is written as the next.
    if (nextMac >= LAST_MAC)
      throw new Fault("NoCapacity", spec.subnet, "no MAC address is left", {
        remedy: "set spec.nextMAC to one that is free",
      });
    const one = { allocatedTo: owner, ip: textOf(pool.addresses.family, value), mac: formatMac(nextMac++) };
    given.set(owner, one);
    added.push(one);
  }
  if (added.length === 0) return { spec, given };
  return { spec: { ...spec, allocatedIPs: [...spec.allocatedIPs, ...added], nextMAC: formatMac(nextMac) }, given };
}

/** The specification without what the owners have: the same one where they have nothing. */
export function releaseIps(spec: IpPoolSpec, owners: ReadonlySet<string>): IpPoolSpec {
  const allocatedIPs = spec.allocatedIPs.filter(({ allocatedTo }) => !owners.has(allocatedTo));
  const allocatedRanges = spec.allocatedRanges?.filter(({ allocatedTo }) => !owners.has(allocatedTo));
  const isSame =
    allocatedIPs.length === spec.allocatedIPs.length && allocatedRanges?.length === spec.allocatedRanges?.length;
  return isSame ? spec : { ...spec, allocatedIPs, ...(allocatedRanges && { allocatedRanges }) };
}
