import type { WireType } from "./go-type.ts";
import { Refused, readScalar } from "./scalars.ts";

/**
 * Why an object that was patched as a map can't become its kind's Go type, in the words of apimachinery's converter, which differ from
 * the decoder's; undefined when it can. Fields are looked at in the order of the type.
 */
export function conversionComplaint(type: WireType, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  const kind = kindOf(value);
  switch (type.is) {
    case "pointer":
      return conversionComplaint(type.of, value);
    case "struct":
      if (kind !== "map") return `cannot restore struct from: ${kind}`;
      return first([...type.fields].map(([name, field]) => [field.type, (value as Record<string, unknown>)[name]]));
    case "map":
      if (kind !== "map") return `cannot restore map from ${kind}`;
      return first(Object.values(value).map((item) => [type.of, item]));
    case "list":
      if (!Array.isArray(value)) return `cannot restore slice from ${kind}`;
      return first(value.map((item) => [type.of, item]));
    case "string":
      if (kind === "string") return undefined;
      return kind === "int64" ? `cannot convert int64 to ${type.go}` : "unrecognized type: string";
    case "bool":
      return kind === "bool" ? undefined : "unrecognized type: bool";
    case "int32":
    case "int64":
    case "float64":
      if (kind === "int64" || (kind === "float64" && type.is === "float64")) return undefined;
      return kind === "float64" ? `cannot convert float64 to ${type.go}` : `unrecognized type: ${type.is}`;
    case "Raw":
    case "SchemaOrArray":
    case "SchemaOrBool":
    case "SchemaOrStrings":
      return undefined;
    default:
      return scalarComplaint(type, value);
  }
}

function first(parts: readonly (readonly [WireType, unknown])[]): string | undefined {
  for (const [type, value] of parts) {
    const complaint = conversionComplaint(type, value);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}

function scalarComplaint(type: WireType, value: unknown): string | undefined {
  try {
    readScalar(type.is as Parameters<typeof readScalar>[0], value);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.wants === undefined) return error.message;
    return `json: cannot unmarshal ${jsonKindOf(value)} into Go value of type ${error.wants(type.go)}`;
  }
  return undefined;
}

/** As encoding/json calls it, which reads such values. */
function jsonKindOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "slice";
  if (typeof value === "object") return "map";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}
