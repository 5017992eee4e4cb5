/** Ranges of addresses as numbers. Pure. */
import { parseIp } from "@slipway/base";
import type { Bounds } from "../../ipam/allocator/ip-pool-plan.ts";

/** From `first` to `last`, both included. */
export interface Span {
  family: 4 | 6;
  first: bigint;
  last: bigint;
}

/** Throws as `parseIp` does. */
export function spanOf({ start, stop }: Bounds): Span {
  const [first, last] = [parseIp(start), parseIp(stop)];
  return { family: first.family, first: first.value, last: last.value };
}

/** Whether an address lies in the range. */
export const isIn = (bounds: Bounds, ip: string): boolean => touches(spanOf(bounds), spanOf({ start: ip, stop: ip }));

/** Whether the two have an address in common. */
export const touches = (a: Span, b: Span): boolean => a.family === b.family && a.first <= b.last && b.first <= a.last;
