import { copyWithinInPasses } from "../json/passes.ts";
import type { Passes } from "../json/turns.ts";
import { isRecord, newBudget, spendAll } from "../json/value.ts";
import { MAX_BODY_BYTES, MAX_VALUES } from "../model/body-limits.ts";

/** An object may be several times what is sent: its defaults, and the owners of its fields, come on top. */
const MAX_CHARS = 4 * MAX_BODY_BYTES;
const MAX_GROWN_VALUES = 3 * MAX_VALUES;

/**
 * A copy of what a patch made of an object. Throws `Unbounded` where that is too large: many small patches must not make an object whose
 * every use is slow (upstream's etcd refuses such). `owners`: the managedFields that the server wrote. Where they still stand there, they are
 * bounded, but not copied, since nobody changes them.
 */
export function* grown<T>(patched: T, owners: unknown): Passes<T> {
  const budget = newBudget(MAX_GROWN_VALUES, MAX_CHARS);
  if (
    !isRecord(patched) ||
    !isRecord(patched.metadata) ||
    owners === undefined ||
    patched.metadata.managedFields !== owners
  )
    return yield* copyWithinInPasses(budget, patched);
  const { managedFields, ...metadata } = patched.metadata;
  spendAll(budget, managedFields);
  yield;
  const copy = yield* copyWithinInPasses(budget, { ...patched, metadata });
  (copy.metadata as Record<string, unknown>).managedFields = managedFields;
  return copy;
}
