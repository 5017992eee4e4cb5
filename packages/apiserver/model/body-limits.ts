import { refusal } from "./status.ts";

/** Largest body that is read, as upstream's limit for resource requests. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/**
 * Most values that a body may hold: members of objects and items of lists. Upstream has no such limit. A pass over so many that can't be interrupted,
 * such as parsing or copying, takes 10 to 50 ms on an idle core, and up to 100 ms on a busy machine, in which nobody else is served; an object of 1.5 MiB,
 * the most that etcd keeps, has so many only where they take less than 30 bytes each, names and owners included.
 */
export const MAX_VALUES = 50_000;

/** The same for YAML that is no JSON: its parser takes several times as long, and can't be interrupted. */
export const MAX_YAML_VALUES = 25_000;

/** Most lines of YAML that is no JSON, for the same reason. An object of 1.5 MiB has so many only where they hold less than 3 letters each. */
export const MAX_YAML_LINES = 300_000;

/** The refusal of a body beyond the limits (413). */
export function tooLarge() {
  return refusal("TooLarge", `Request entity too large: limit is ${MAX_BODY_BYTES}`);
}

/** The refusal of YAML with more lines than that. */
export function tooManyLines() {
  return refusal("TooLarge", `Request entity too large: limit is ${MAX_YAML_LINES} lines`);
}

/** The refusal of a body with at least so many values. */
export function tooManyValues(values: number, limit = MAX_VALUES) {
  return refusal("TooLarge", `Request entity too large: limit is ${limit} values, got at least ${values}`);
}
