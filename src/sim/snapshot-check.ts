import type { z } from "zod";
import { Fault } from "../base/fault.ts";

/** Which simulation a snapshot is for, and where it was found. */
export interface SnapshotSource {
  /** The simulation: `simulated Equinix Metal`. */
  on: string;
  /** What to delete to begin anew, e.g. a file; unset: said in words. */
  from?: string | undefined;
}

/** A snapshot of the right form, or a `Fault` (`Invalid`) that says what is wrong and what to delete. Tells no values: they may be secrets. */
export function checkedSnapshot<T>(schema: z.ZodType<T>, value: unknown, source: SnapshotSource): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const place = issue === undefined || issue.path.length === 0 ? "it" : issue.path.join(".");
  throw unusable(source, `${place}: ${issue?.message ?? "not understood"}`);
}

export function unusable({ on, from }: SnapshotSource, why: string): Fault {
  const what = from ?? `the saved state of the ${on}`;
  return new Fault("Invalid", on, `the saved state can't be used (${why})`, {
    remedy: `delete ${what} to begin with an empty cloud: its simulated machines are lost`,
  });
}
