/** Sets of addresses of one family, as sorted ranges that don't touch. Pure. */
import { Fault, formatIp, parseIp, rangeOf, tryParseCidr } from "@slipway/base";

export interface Range {
  first: bigint;
  last: bigint;
}

export interface AddressSet {
  family: 4 | 6;
  ranges: readonly Range[];
}

/**
 * Reads single addresses, ranges (`10.0.0.10-10.0.0.20`) and prefixes (`10.0.1.0/24`). `field`: where they stand, for the error. Throws a `Fault`
 * (`Invalid`) that names the entry: no address, last before first, or two families.
 */
export function readAddresses(texts: readonly string[], field: string): AddressSet {
  let family: 4 | 6 | undefined;
  const ranges = texts.map((text, index) => {
    const at = `${field}[${index}]`;
    const { first, last } = readRange(text.trim(), at);
    family ??= first.family;
    if (first.family !== family || last.family !== family)
      throw new Fault("Invalid", at, `${text} is not of IPv${family} as the others are`, {
        remedy: "make a pool for each family",
      });
    if (last.value < first.value) throw new Fault("Invalid", at, `${text} ends before it begins`);
    return { first: first.value, last: last.value };
  });
  return { family: family ?? 4, ranges: merged(ranges) };
}

function readRange(text: string, at: string) {
  const cidr = tryParseCidr(text);
  if (cidr !== undefined) return rangeOf(cidr);
  const [start = "", stop = start, ...more] = text.split("-").map((part) => part.trim());
  try {
    if (more.length > 0) throw new RangeError(`${text} has more than two parts`);
    return { first: parseIp(start), last: parseIp(stop) };
  } catch (cause) {
    throw new Fault("Invalid", at, (cause as Error).message, {
      remedy: "write an address, a range such as 10.0.0.10-10.0.0.20, or a prefix such as 10.0.1.0/24",
      cause,
    });
  }
}

/** The same addresses in sorted ranges that neither overlap nor touch. */
function merged(ranges: readonly Range[]): Range[] {
  const out: Range[] = [];
  for (const range of ranges.toSorted(byFirst)) {
    const before = out.at(-1);
    if (before === undefined || range.first > before.last + 1n) out.push({ ...range });
    else if (range.last > before.last) before.last = range.last;
  }
  return out;
}

const byFirst = (a: Range, b: Range): number => (a.first < b.first ? -1 : 1);

/** What of a set is not in the other. Sets of different families share nothing. */
export function minus(set: AddressSet, other: AddressSet): AddressSet {
  if (set.family !== other.family) return set;
  const out: Range[] = [];
  let next = 0;
  for (const { first, last } of set.ranges) {
    let from = first;
    while (next < other.ranges.length && other.ranges[next]!.last < from) next++;
    for (let i = next; from <= last && i < other.ranges.length && other.ranges[i]!.first <= last; i++) {
      const taken = other.ranges[i]!;
      if (taken.first > from) out.push({ first: from, last: taken.first - 1n });
      from = taken.last + 1n;
    }
    if (from <= last) out.push({ first: from, last });
  }
  return { family: set.family, ranges: out };
}

/** Whether the set has this address, in the logarithm of its ranges. */
export function hasAddress({ ranges }: AddressSet, value: bigint): boolean {
  let [low, high] = [0, ranges.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle]!;
    if (value < range.first) high = middle - 1;
    else if (value > range.last) low = middle + 1;
    else return true;
  }
  return false;
}

/** How many addresses the set has. */
export const countOf = ({ ranges }: AddressSet): bigint =>
  ranges.reduce((sum, { first, last }) => sum + last - first + 1n, 0n);

/** The address as text. */
export const textOf = (family: 4 | 6, value: bigint): string => formatIp({ family, value });
