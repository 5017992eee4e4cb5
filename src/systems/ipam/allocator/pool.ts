/** What a pool hands out, and to which claim. Pure: both of Slipway's address APIs decide here. */
import { Fault, tryParseIp } from "@slipway/base";
import { type AddressSet, countOf, hasAddress, minus, type Range, readAddresses, textOf } from "./address-set.ts";

export interface Pool {
  addresses: AddressSet;
  /** Size of a network whose first (and of IPv4 last) address is not handed out; undefined: all are. */
  reservedPer: bigint | undefined;
  /** Between addresses that are handed out: 1, or 2^64 where whole prefixes are. */
  step: bigint;
  prefix: number;
  gateway: string | undefined;
}

/** A pool as `spec` of InClusterIPPool and GlobalInClusterIPPool has it. */
export interface PoolSpec {
  addresses: readonly string[];
  prefix: number;
  gateway?: string | undefined;
  excludedAddresses?: readonly string[] | undefined;
  allocateReservedIPAddresses?: boolean | undefined;
}

/** Reads a specification. Throws a `Fault` (`Invalid`) that names the field. */
export function readPool(spec: PoolSpec): Pool {
  const all = readAddresses(spec.addresses, "spec.addresses");
  const bits = all.family === 4 ? 32 : 128;
  if (spec.prefix > bits)
    throw new Fault("Invalid", "spec.prefix", `${spec.prefix} is more than the ${bits} bits of IPv${all.family}`);
  const excluded = [...(spec.excludedAddresses ?? [])];
  let addresses = excluded.length > 0 ? minus(all, readAddresses(excluded, "spec.excludedAddresses")) : all;
  if (spec.gateway !== undefined && spec.gateway !== "") {
    const gateway = tryParseIp(spec.gateway);
    if (gateway?.family !== all.family)
      throw new Fault("Invalid", "spec.gateway", `${spec.gateway} is no address of IPv${all.family}`);
    addresses = minus(addresses, { family: all.family, ranges: [{ first: gateway.value, last: gateway.value }] });
  }
  // Of two addresses (RFC 3021) or one, none is reserved.
  const size = 1n << BigInt(bits - spec.prefix);
  const reserves = spec.allocateReservedIPAddresses !== true && size > 2n;
  return {
    addresses,
    reservedPer: reserves ? size : undefined,
    step: 1n,
    prefix: spec.prefix,
    gateway: spec.gateway || undefined,
  };
}

/** Whether the pool would hand out this address. */
export function offers(pool: Pool, value: bigint): boolean {
  return hasAddress(pool.addresses, value) && value % pool.step === 0n && !isReserved(pool, value);
}

function isReserved({ reservedPer: size, addresses: { family } }: Pool, value: bigint): boolean {
  if (size === undefined) return false;
  const host = value % size;
  return host === 0n || (family === 4 && host === size - 1n);
}

/** How many addresses the pool hands out, without counting them one by one. */
export function capacityOf(pool: Pool): bigint {
  const { addresses, reservedPer: size, step } = pool;
  if (step !== 1n) return addresses.ranges.reduce((sum, range) => sum + multiples(range, step, 0n), 0n);
  if (size === undefined) return countOf(addresses);
  const reserved = addresses.ranges.reduce(
    (sum, range) =>
      sum + multiples(range, size, 0n) + (addresses.family === 4 ? multiples(range, size, size - 1n) : 0n),
    0n,
  );
  return countOf(addresses) - reserved;
}

/** How many of the range's numbers leave this rest when divided by `size`. */
function multiples({ first, last }: Range, size: bigint, rest: bigint): bigint {
  const upTo = (value: bigint): bigint => (value < rest ? 0n : (value - rest) / size + 1n);
  return upTo(last) - (first === 0n ? 0n : upTo(first - 1n));
}

/** The addresses that are free, the lowest first. Takes as long as what is in use and what is taken from it, not as long as the pool. */
export function* free(pool: Pool, used: ReadonlySet<bigint>): Generator<bigint> {
  const { addresses, step } = pool;
  for (const { first, last } of addresses.ranges)
    for (let value = ((first + step - 1n) / step) * step; value <= last; value += step)
      if (!used.has(value) && !isReserved(pool, value)) yield value;
}

/** An address that is in use. */
export interface Held {
  claim: string;
  address: string;
}

/**
 * Addresses for claims that wait, in their order; those that are left out got none: the pool is exhausted. A claim that holds an address
 * in `held` gets that one again.
 */
export function assign(pool: Pool, held: readonly Held[], waiting: readonly string[]): Map<string, string> {
  const mine = new Map(held.map(({ claim, address }) => [claim, address]));
  const used = new Set(held.flatMap(({ address }) => numberOf(pool, address) ?? []));
  const next = free(pool, used);
  const out = new Map<string, string>();
  for (const claim of waiting) {
    const again = mine.get(claim);
    if (again !== undefined) {
      out.set(claim, again);
      continue;
    }
    const { value, done } = next.next();
    if (done !== true) out.set(claim, textOf(pool.addresses.family, value));
  }
  return out;
}

/** Undefined for text that is no address of the pool's family: definitions of others let that be written. It takes nothing from the pool. */
function numberOf({ addresses: { family } }: Pool, address: string): bigint | undefined {
  const ip = tryParseIp(address);
  return ip?.family === family ? ip.value : undefined;
}

/** `status.ipAddresses`: the pool in numbers, none above what JSON holds exactly. */
export function numbersOf(pool: Pool, held: readonly string[]) {
  const offered = new Set(
    held.filter((address) => {
      const value = numberOf(pool, address);
      return value !== undefined && offers(pool, value);
    }),
  );
  const outOfRange = new Set(held).size - offered.size;
  const capacity = capacityOf(pool);
  return {
    total: bounded(capacity),
    free: bounded(capacity - BigInt(offered.size)),
    used: offered.size + outOfRange,
    outOfRange,
  };
}

const bounded = (value: bigint): number =>
  value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
