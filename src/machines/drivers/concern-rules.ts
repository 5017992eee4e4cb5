import type { Concern } from "../machine.ts";

/** What a driver says of an order where `applies` is truthy. `field`: its path below `spec`. */
export interface ConcernRule {
  applies: unknown;
  fatal: boolean;
  field: string;
  message: string;
}

/** A rule whose concern keeps an order from being placed. */
export const refuse = (applies: unknown, field: string, message: string): ConcernRule => ({
  ...{ applies, field, message },
  fatal: true,
});

/** A rule whose concern is shown, and does not keep an order from being placed. */
export const warn = (applies: unknown, field: string, message: string): ConcernRule => ({
  ...{ applies, field, message },
  fatal: false,
});

/** The concerns of the rules that apply, in their order. Pure. */
export function concernsOf(rules: readonly ConcernRule[]): Concern[] {
  return rules
    .filter(({ applies }) => applies)
    .map(({ field, message, fatal }) => ({ field: `spec.${field}`, message, fatal }));
}
