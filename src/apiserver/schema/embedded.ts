/** Rules on whole objects inside an object: their type and their metadata (apiextensions `schema/objectmeta`). */
import type { FieldError } from "../served.ts";
import { invalid, required } from "./field-error.ts";
import { isRecord, type Node } from "./node.ts";

const KIND = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const KIND_RULE =
  "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Adds what is wrong with embedded objects, here and below. */
export function embeddedErrors(node: Node, value: unknown, path: string, errors: FieldError[]): void {
  if (!node.hasEmbedded) return;
  if (Array.isArray(value)) {
    if (node.items !== undefined)
      for (const [i, item] of value.entries()) embeddedErrors(node.items, item, `${path}[${i}]`, errors);
    return;
  }
  if (!isRecord(value)) return;
  if (node.embedded) typeErrors(value, path === "" ? "" : `${path}.`, errors);
  for (const key in value) {
    const property = node.properties.get(key);
    if (property !== undefined) embeddedErrors(property, value[key], path === "" ? key : `${path}.${key}`, errors);
    else if (typeof node.additional === "object")
      embeddedErrors(node.additional, value[key], `${path}[${key}]`, errors);
  }
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
