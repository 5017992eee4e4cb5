/** Rules on whole objects inside an object: their type and their metadata (apiextensions `schema/objectmeta`). */

import { isRecord } from "../json/value.ts";
import { invalid, required } from "../model/field-error.ts";
import type { Body, FieldError } from "../model/served.ts";
import { embeddedMetadataErrors } from "../rules/metadata.ts";
import { decodeWire, Undecodable } from "../wire/decode.ts";
import { wireTypeOf } from "../wire/wire-types.ts";
import type { Node } from "./node.ts";

const KIND = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const KIND_RULE =
  "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

const META = wireTypeOf("meta", "ObjectMeta")!;

/** Reads the metadata of embedded objects as ObjectMeta, in place; its unknown fields stay, to be reported. Returns what can't be read. */
export function coerceEmbedded(node: Node, value: unknown, path: string): FieldError | undefined {
  if (!node.hasEmbedded) return undefined;
  for (const [child, inner, at] of below(node, value, path)) {
    const wrong = coerceEmbedded(child, inner, at);
    if (wrong !== undefined) return wrong;
  }
  if (!node.embedded || !isRecord(value)) return undefined;
  const at = path === "" ? "" : `${path}.`;
  for (const field of ["apiVersion", "kind"])
    if (value[field] !== undefined && typeof value[field] !== "string")
      return invalid(`${at}${field}`, value[field], "must be a string");
  return value.metadata === undefined ? undefined : coerceMetadata(value, `${at}metadata`);
}

function coerceMetadata(value: Record<string, unknown>, path: string): FieldError | undefined {
  try {
    const { value: known, unknown } = decodeWire(META, value.metadata ?? {});
    const given = isRecord(value.metadata) ? value.metadata : {};
    value.metadata = { ...Object.fromEntries(unknown.map((name) => [name, given[name]])), ...(known as object) };
    return undefined;
  } catch (error) {
    if (error instanceof Undecodable) return invalid(path, value.metadata, error.message);
    throw error;
  }
}

/** What stands directly in a value and has a schema. */
function below(node: Node, value: unknown, path: string): [Node, unknown, string][] {
  if (Array.isArray(value)) {
    const { items } = node;
    return items === undefined ? [] : value.map((item, i) => [items, item, `${path}[${i}]`]);
  }
  if (!isRecord(value)) return [];
  return Object.keys(value).flatMap((key): [Node, unknown, string][] => {
    const property = node.properties.get(key);
    if (property !== undefined) return [[property, value[key], path === "" ? key : `${path}.${key}`]];
    return typeof node.additional === "object" ? [[node.additional, value[key], `${path}[${key}]`]] : [];
  });
}

/** Adds what is wrong with embedded objects, here and below. */
export function embeddedErrors(node: Node, value: unknown, path: string, errors: FieldError[]): void {
  if (!node.hasEmbedded) return;
  if (node.embedded && isRecord(value)) {
    const at = path === "" ? "" : `${path}.`;
    typeErrors(value, at, errors);
    if (isRecord(value.metadata))
      for (const error of embeddedMetadataErrors(value as Body)) errors.push({ ...error, field: at + error.field });
  }
  for (const [child, inner, at] of below(node, value, path)) embeddedErrors(child, inner, at, errors);
}

function typeErrors(value: Record<string, unknown>, at: string, errors: FieldError[]): void {
  const { apiVersion, kind } = value;
  if (apiVersion === undefined) errors.push(required(`${at}apiVersion`));
  else if (typeof apiVersion !== "string") errors.push(invalid(`${at}apiVersion`, apiVersion, "must be a string"));
  else if (apiVersion === "") errors.push(invalid(`${at}apiVersion`, apiVersion, "must not be empty"));
  else if (apiVersion.split("/").length > 2)
    errors.push(invalid(`${at}apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  if (kind === undefined) errors.push(required(`${at}kind`));
  else if (typeof kind !== "string") errors.push(invalid(`${at}kind`, kind, "must be a string"));
  else if (kind === "") errors.push(invalid(`${at}kind`, kind, "must not be empty"));
  else if (!KIND.test(kind.toLowerCase()) || kind.length > 63) errors.push(invalid(`${at}kind`, kind, KIND_RULE));
}
