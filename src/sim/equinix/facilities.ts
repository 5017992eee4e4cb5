/** Facilities: what metros were before. One stands for each metro; orders may name any, which means its metro. */
import { metroOf } from "../../machines/drivers/equinix/placement.ts";
import { METROS } from "./catalog.ts";
import { strings } from "./reading.ts";

/** The facility of a metro that the catalog lists. */
export function facilityOf(metro: string): string {
  return `${metro}1`;
}

export const FACILITIES: readonly string[] = [...METROS.keys()].map(facilityOf);

export interface Facility {
  code: string;
  metro: string;
}

/** The facilities that an order names, in its order. `any`: all of them. Undefined: it names none. A code without a metro is left out. */
export function facilitiesIn(value: unknown): Facility[] | undefined {
  const codes = (typeof value === "string" ? value.split(",") : strings(value)).filter((code) => code !== "");
  if (codes.length === 0) return undefined;
  const named = codes.includes("any") ? FACILITIES : codes;
  return named.flatMap((code) => {
    const metro = metroOf(code);
    return metro !== undefined && METROS.has(metro) ? [{ code, metro }] : [];
  });
}
