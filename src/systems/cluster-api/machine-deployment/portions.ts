/** Numbers that are given as such or as percentages. Pure. */

export type Portion = number | string;

/** A portion of a whole. A percentage is rounded up or down; a text that is none counts as 0. */
export function portionOf(portion: Portion, whole: number, round: "up" | "down"): number {
  if (typeof portion === "number") return portion;
  const [, digits, percent] = /^(\d+)(%?)$/.exec(portion) ?? [];
  if (digits === undefined) return 0;
  if (percent === "") return Number(digits);
  const exact = (Number(digits) * whole) / 100;
  return round === "up" ? Math.ceil(exact) : Math.floor(exact);
}

export interface Pace {
  maxSurge: number;
  maxUnavailable: number;
}

/** How many Machines may be too many and too few. Both 0: one may be missing, or nothing would ever happen. */
export function paceOf(
  of: { maxSurge?: Portion | undefined; maxUnavailable?: Portion | undefined } | undefined,
  replicas: number,
): Pace {
  const maxSurge = portionOf(of?.maxSurge ?? 1, replicas, "up");
  const maxUnavailable = Math.min(portionOf(of?.maxUnavailable ?? 0, replicas, "down"), replicas);
  return maxSurge === 0 && maxUnavailable === 0 ? { maxSurge, maxUnavailable: 1 } : { maxSurge, maxUnavailable };
}

/** How many Machines may be remediated at a time. Unset: all. */
export const resolveInFlight = (portion: Portion | undefined, replicas: number): number =>
  portion === undefined ? Number.POSITIVE_INFINITY : portionOf(portion, replicas, "up");
