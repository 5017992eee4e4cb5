/**
 * Kubernetes' CEL: `compile` parses and checks an expression against the types of its variables; what it gives can be priced and run within
 * the cost that a `Meter` allows. Pure: no clock, no I/O. Knows neither schemas nor definitions; their rules are `packages/apiserver/schema/cel`.
 */
export { type Compiled, compile } from "./compiled.ts";
export { parseNamedDuration } from "./duration.ts";
export { Meter, TooCostly } from "./evaluator.ts";
export { ExpressionError } from "./expression.ts";
export { untyped, whole } from "./json.ts";
export { parseTime } from "./library/times.ts";
export { escapeField, isReachable } from "./names.ts";
export {
  BOOL,
  BYTES,
  type Declared,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  optionalOf,
  STRING,
  TIMESTAMP,
  type Type,
  typeName,
} from "./types.ts";
export {
  CelError,
  Duration,
  equal,
  joined,
  type ListKind,
  Optional,
  ofKind,
  Timestamp,
  Uint,
  type Value,
} from "./values.ts";
