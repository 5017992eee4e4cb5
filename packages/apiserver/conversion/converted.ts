import { sameJson } from "@slipway/base";
import { isRecord } from "../json/value.ts";
import type { Body, FieldError, ServedResource } from "../model/served.ts";
import { metadataErrors } from "../rules/metadata.ts";
import { gvk } from "./conversion.ts";

/**
 * What a converter made of `original`, its metadata restored: only labels and annotations may change on the way. Gives a text when it
 * is not what was asked for.
 */
export function accepted(original: Body, converted: unknown, apiVersion: string): Body | string {
  const bad = (why: string): string => `conversion webhook for ${gvk(original)} returned ${why}`;
  const invalid = (why: string): string => bad(`invalid object: ${why}`);
  if (!isRecord(converted)) return invalid("it is no object");
  if (converted.apiVersion !== apiVersion)
    return bad(
      `invalid object at index 0: invalid groupVersion (expected ${apiVersion}, received ${String(converted.apiVersion)})`,
    );
  if (converted.kind !== original.kind)
    return bad(
      `invalid object at index 0: invalid kind (expected ${original.kind}, received ${String(converted.kind)})`,
    );
  const metadata = converted.metadata;
  const given = isRecord(metadata) ? metadata : {};
  for (const [field, name] of SAME) {
    const [was, is] = [original.metadata[field] ?? "", given[field] ?? ""];
    if (was !== is) return invalid(`must have the same ${name}: ${String(was)} != ${String(is)}`);
  }
  if (metadata === undefined) return bad("invalid metadata: missing metadata in converted object");
  if (!isRecord(metadata))
    return bad(`invalid metadata: invalid metadata of type ${goType(metadata)} in converted object`);
  const restored: Record<string, unknown> = { ...original.metadata };
  for (const field of ["labels", "annotations"] as const) {
    const wrong = takeTexts(restored, metadata[field], field);
    if (wrong !== undefined) return bad(`invalid metadata: ${wrong}`);
  }
  return { ...converted, metadata: restored } as unknown as Body;
}

const SAME = [
  ["name", "name"],
  ["namespace", "namespace"],
  ["uid", "UID"],
] as const;

/** Puts a map of texts from the answer in its place. Gives what is wrong with it. */
function takeTexts(into: Record<string, unknown>, given: unknown, field: "labels" | "annotations"): string | undefined {
  if (given === undefined || given === null) {
    delete into[field];
    return undefined;
  }
  if (!isRecord(given)) return `invalid metadata.${field} of type ${goType(given)} in converted object`;
  for (const [key, value] of Object.entries(given))
    if (typeof value !== "string")
      return `metadata.${field}[${key}] must be a string, but is ${goType(value)} in converted object`;
  const errors = sameJson(into[field] ?? {}, given) ? [] : errorsOf(field, given as Record<string, string>);
  into[field] = given;
  const texts = errors.map(({ field: at, message }) => `${at}: ${message}`);
  return texts.length > 1 ? `[${texts.join(", ")}]` : texts[0];
}

function errorsOf(field: "labels" | "annotations", given: Record<string, string>): FieldError[] {
  const object = { metadata: { name: "a", [field]: given } } as unknown as Body;
  const errors = metadataErrors(object, { group: "", plural: "" } as ServedResource);
  // As upstream: the path is in the singular here.
  return field === "labels"
    ? errors
    : errors.map((e) => ({ ...e, field: e.field.replace("annotations", "annotation") }));
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : isRecord(value) ? "map[string]interface {}" : typeof value;
}
