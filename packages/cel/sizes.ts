import type { Expression } from "./expression.ts";
import type { Type } from "./types.ts";
import { Uint } from "./values.ts";

/** Between which bounds a length lies: characters, elements, entries. */
export interface Size {
  readonly min: number;
  readonly max: number;
}

/** Beyond what cel-go counts. */
export const ENDLESS = 2 ** 64;
export const UNKNOWN: Size = { min: 0, max: ENDLESS };
/** The size of something whose length is known. */
export const sizeOf = (exact: number): Size => ({ min: exact, max: exact });
/** Work of reading a text once, per character. */
export const PER_CHARACTER = 0.1;
/** A cost as far as it is counted. */
export const capped = (cost: number): number => Math.min(cost, ENDLESS);
/** The cost of work on each of `size`, rounded up. */
export const scaled = (size: number, factor: number): number => capped(Math.ceil(size * factor));
/** The size of what is either of two. */
export const union = (a: Size, b: Size): Size => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });

/** An operand of a call, as estimates of calls see it. */
export interface Operand {
  readonly expression: Expression;
  readonly type: Type;
  readonly size: Size;
  readonly isSized: boolean;
  /** Size of the elements, where it is a list. */
  readonly itemSize: Size;
}

/** The whole number that an operand is written as. */
export function writtenNumber({ expression }: Operand): number | undefined {
  if (expression.kind !== "literal") return undefined;
  const { value } = expression;
  return typeof value === "bigint" ? Number(value) : value instanceof Uint ? Number(value.value) : undefined;
}
