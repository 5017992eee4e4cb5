/** Blocks of addresses for DHCP, one for each node and network. Pure. */
import { textOf } from "../../ipam/allocator/address-set.ts";
import type { Bounds, IpPoolSpec } from "../../ipam/allocator/ip-pool-plan.ts";
import { spanOf, touches } from "./span.ts";

export interface BlockWish {
  owner: string;
  bounds: Bounds;
  /** A block has 2 ** `bits` addresses. */
  bits: number;
}

/** The owner's block of the pool, or the first one that nobody has and no range of addresses overlaps, in this pool or in `others`. */
export function block(
  spec: IpPoolSpec,
  { owner, bounds, bits }: BlockWish,
  others: readonly IpPoolSpec[],
): { spec: IpPoolSpec; block?: Bounds } {
  const { family, first, last } = spanOf(bounds);
  const size = 1n << BigInt(bits);
  const held = spec.allocatedRanges?.find(({ allocatedTo }) => allocatedTo === owner);
  if (held !== undefined) {
    const span = spanOf(held);
    const fits = span.first >= first && span.last <= last && span.last - span.first + 1n === size;
    if (fits && (span.first - first) % size === 0n) return { spec, block: { start: held.start, stop: held.stop } };
  }
  const free = withoutBlock(spec, owner);
  const taken = [free, ...others].flatMap(({ ranges, allocatedRanges = [] }) =>
    [...ranges, ...allocatedRanges].map(spanOf),
  );
  const sorted = taken.filter((span) => span.family === family).toSorted((a, b) => (a.first < b.first ? -1 : 1));
  let at = first;
  for (let i = 0; at + size - 1n <= last; ) {
    while (i < sorted.length && sorted[i]!.last < at) i++;
    const candidate = { family, first: at, last: at + size - 1n };
    // They are sorted: if this one begins after the candidate, so do all that follow.
    const hit = sorted[i];
    if (hit === undefined || !touches(candidate, hit)) {
      const found = { start: textOf(family, candidate.first), stop: textOf(family, candidate.last) };
      const allocatedRanges = [...(free.allocatedRanges ?? []), { allocatedTo: owner, ...found }];
      return { spec: { ...free, allocatedRanges }, block: found };
    }
    at += ((hit.last - at) / size + 1n) * size;
  }
  return { spec: free };
}

/** The pool without the owner's block. */
export function withoutBlock(spec: IpPoolSpec, owner: string): IpPoolSpec {
  if (spec.allocatedRanges?.some(({ allocatedTo }) => allocatedTo === owner) !== true) return spec;
  return { ...spec, allocatedRanges: spec.allocatedRanges.filter(({ allocatedTo }) => allocatedTo !== owner) };
}
