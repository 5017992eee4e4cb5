import { Fault } from "@slipway/base";
import type { z } from "zod";

/** Which simulation a snapshot is for, and where it was found. */
export interface SnapshotSource {
  /** The simulation: `simulated Equinix Metal`. */
  on: string;
  /** What to delete to begin anew, e.g. a file; unset: said in words. */
  from?: string | undefined;
}

/** A snapshot of the right form, or a `Fault` (`Invalid`) that says what is wrong and what to delete. Contains no values: they may be secrets. */
export function checkedSnapshot<T>(schema: z.ZodType<T>, value: unknown, source: SnapshotSource): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const place = issue === undefined || issue.path.length === 0 ? "it" : issue.path.join(".");
  throw unusable(source, `${place}: ${issue?.message ?? "not understood"}`);
}

/** The `Fault` (`Invalid`) for a saved state that cannot be used, with what to delete as its remedy. */
export function unusable({ on, from }: SnapshotSource, why: string): Fault {
  const what = from ?? `the saved state of the ${on}`;
  return new Fault("Invalid", on, `the saved state can't be used (${why})`, {
    remedy: `delete ${what} to begin with an empty cloud: its simulated machines are lost`,
  });
}
