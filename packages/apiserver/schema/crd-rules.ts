/** The rules on a CustomResourceDefinition besides those on its schemas. Input may be anything that is JSON. */

import { sameJson } from "@slipway/base";
import { isRecord } from "../json/value.ts";
import { invalid, notSupported, printed, required } from "../model/field-error.ts";
import type { FieldError } from "../model/served.ts";
import { conversionErrors } from "./conversion-rules.ts";
import { selectableErrors } from "./selectable-fields.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_ADVICE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_ADVICE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const APPROVAL = "api-approved.kubernetes.io";

type Json = Record<string, unknown>;

const record = (value: unknown): Json => (isRecord(value) ? value : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Names, group, scope and versions of the definition. `old` is set for updates, which can't change its name. */
export function crdErrors(crd: Json, old?: Json): FieldError[] {
  const errors: FieldError[] = [];
  const spec = record(crd.spec);
  const names = record(spec.names);
  const group = text(spec.group);
  const plural = text(names.plural);
  const metadata = record(crd.metadata);
  if (old === undefined && text(metadata.name) !== `${plural}.${group}`)
    errors.push(invalid("metadata.name", metadata.name ?? "", 'must be spec.names.plural+"."+spec.group'));
  groupErrors(group, errors);
  if (spec.scope === undefined || spec.scope === "") errors.push(required("spec.scope"));
  else if (spec.scope !== "Cluster" && spec.scope !== "Namespaced")
    errors.push(notSupported("spec.scope", spec.scope, ["Cluster", "Namespaced"]));
  if (spec.preserveUnknownFields === true)
    errors.push(
      invalid(
        "spec.preserveUnknownFields",
        true,
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
      ),
    );
  versionsErrors(list(spec.versions), errors);
  errors.push(...conversionErrors(record(spec.conversion), "spec.conversion"));
  namesErrors(names, errors);
  approvalErrors(group, metadata, errors);
  return errors;
}

function groupErrors(group: string, errors: FieldError[]): void {
  if (group === "") return void errors.push(required("spec.group"));
  if (!group.split(".").every((part) => LABEL.test(part)) || group.length > 253)
    errors.push(invalid("spec.group", group, SUBDOMAIN_ADVICE));
  else if (!group.includes(".")) errors.push(invalid("spec.group", group, "should be a domain with at least one dot"));
}

/** Groups of Kubernetes itself need a word of approval: where it was given, or why it was not. */
function approvalErrors(group: string, metadata: Json, errors: FieldError[]): void {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return;
  const at = `metadata.annotations[${APPROVAL}]`;
  const approval = text(record(metadata.annotations)[APPROVAL]);
  const see = "see https://github.com/kubernetes/enhancements/pull/1111";
  const wanted = `protected groups must have approval annotation "${APPROVAL}"`;
  if (approval === "") errors.push(required(at, `${wanted}, ${see}`));
  else if (!approval.startsWith("unapproved") && !/^[a-z]+:\/\/[^/]+/i.test(approval))
    errors.push(invalid(at, approval, `${wanted} with either a URL or a reason starting with "unapproved", ${see}`));
}

function namesErrors(names: Json, errors: FieldError[]): void {
  for (const field of ["plural", "singular"]) {
    const value = text(names[field]);
    const at = `spec.names.${field}`;
    if (value === "") errors.push(required(at));
    else if (!(LABEL_1035.test(value) && value.length <= 63)) errors.push(invalid(at, value, LABEL_ADVICE));
  }
  for (const field of ["kind", "listKind"]) {
    const value = text(names[field]);
    const at = `spec.names.${field}`;
    if (value === "") errors.push(required(at));
    else if (!LABEL_1035.test(value.toLowerCase()) || value.length > 63)
      errors.push(invalid(at, value, `may have mixed case, but should otherwise match: ${LABEL_ADVICE}`));
  }
  if (text(names.kind) !== "" && names.kind === names.listKind)
    errors.push(invalid("spec.names.listKind", names.listKind, "kind and listKind may not be the same"));
  for (const field of ["shortNames", "categories"])
    for (const [i, value] of list(names[field]).entries())
      if (!LABEL_1035.test(text(value))) errors.push(invalid(`spec.names.${field}[${i}]`, value, LABEL_ADVICE));
}

function versionsErrors(versions: unknown[], errors: FieldError[]): void {
  const unique = new Set(versions.map((version) => text(record(version).name)));
  const shared = new Set(PARTS.filter((part) => isShared(versions, part)));
  for (const [i, item] of versions.entries()) {
    const version = record(item);
    const at = `spec.versions[${i}]`;
    const name = text(version.name);
    if (!LABEL_1035.test(name) || name.length > 63) {
      errors.push(invalid(`${at}.name`, name, LABEL_ADVICE));
      // The first one also stands in a field of its own.
      if (i === 0 && name !== "") errors.push(invalid("spec.version", name, LABEL_ADVICE));
    }
    warningErrors(version, `${at}.deprecationWarning`, errors);
    // Upstream keeps in one place what all versions share, and names that place; undefined: reported with the first version.
    const place = (part: (typeof PARTS)[number]): string | undefined => {
      if (!shared.has(part)) return `${at}.${part}`;
      return i === 0 ? `spec.${part}` : undefined;
    };
    columnErrors(list(version.additionalPrinterColumns), place("additionalPrinterColumns"), errors);
    scaleErrors(record(version.subresources).scale, place("subresources"), errors);
    const fields = place("selectableFields");
    if (fields !== undefined)
      errors.push(...selectableErrors(list(version.selectableFields), record(version.schema).openAPIV3Schema, fields));
  }
  if (unique.size < versions.length)
    errors.push(invalid("spec.versions", names(versions), "must contain unique version names"));
  const stored = versions.filter((v) => record(v).storage === true).length;
  if (stored !== 1)
    errors.push({
      field: "spec.versions",
      reason: "FieldValueInvalid",
      message: `Invalid value: ${JSON.stringify(names(versions))}: must have exactly one version marked as storage version`,
    });
}

/** What all versions of a definition may share. */
const PARTS = ["additionalPrinterColumns", "subresources", "selectableFields"] as const;

function isShared(versions: readonly unknown[], part: string): boolean {
  return versions.every((version) => sameJson(record(version)[part], record(versions[0])[part]));
}

/** Versions as upstream prints them, without what they share. */
function names(versions: unknown[]): unknown {
  return versions.length === 0
    ? null
    : versions.map((v) => {
        const { name = "", served = false, storage = false, deprecated = false, deprecationWarning = null } = record(v);
        const said = { Name: name, Served: served, Storage: storage, Deprecated: deprecated };
        const shared = { Schema: null, Subresources: null, AdditionalPrinterColumns: null, SelectableFields: null };
        return { ...said, DeprecationWarning: deprecationWarning, ...shared };
      });
}

function warningErrors({ deprecated, deprecationWarning }: Json, at: string, errors: FieldError[]): void {
  if (typeof deprecationWarning !== "string") return;
  const wrong = (why: string): void => void errors.push(invalid(at, deprecationWarning, why));
  if (deprecated !== true) return void wrong("can only be set for deprecated versions");
  if (Buffer.byteLength(deprecationWarning) > 256) wrong("must be <= 256 characters long");
  if (deprecationWarning === "") wrong("must not be an empty string");
  const strange = deprecationWarning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
  if (strange >= 0)
    wrong(`must only contain printable UTF-8 characters; non-printable character found at index ${strange}`);
}

const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

function columnErrors(columns: unknown[], path: string | undefined, errors: FieldError[]): void {
  if (path === undefined) return;
  const types = ["boolean", "date", "integer", "number", "string"];
  for (const [i, item] of columns.entries()) {
    const column = record(item);
    if (text(column.name) === "") errors.push(required(`${path}[${i}].name`));
    if (column.type === undefined || column.type === "")
      errors.push(required(`${path}[${i}].type`, `must be one of ${types.join(",")}`));
    else if (!types.includes(text(column.type)))
      errors.push(invalid(`${path}[${i}].type`, column.type, `must be one of ${types.join(",")}`));
    if (text(column.format) !== "" && !COLUMN_FORMATS.includes(text(column.format)))
      errors.push(invalid(`${path}[${i}].format`, column.format, `must be one of ${COLUMN_FORMATS.join(",")}`));
    pathErrors(column.jsonPath, [""], `${path}[${i}].JSONPath`, errors);
  }
}

function scaleErrors(scale: unknown, place: string | undefined, errors: FieldError[]): void {
  if (scale === undefined || scale === null || place === undefined) return;
  const path = `${place}.scale`;
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = record(scale);
  pathErrors(specReplicasPath, [".spec."], `${path}.specReplicasPath`, errors);
  pathErrors(statusReplicasPath, [".status."], `${path}.statusReplicasPath`, errors);
  if (text(labelSelectorPath) !== "")
    pathErrors(labelSelectorPath, [".spec.", ".status."], `${path}.labelSelectorPath`, errors);
}

function pathErrors(value: unknown, below: readonly string[], path: string, errors: FieldError[]): void {
  if (text(value) === "") return void errors.push(required(path));
  if (!text(value).startsWith(".")) errors.push(invalid(path, value, "must be a simple json path starting with ."));
  else if (!below.some((prefix) => text(value).startsWith(prefix))) {
    const places = below.map((prefix) => prefix.replace(/\.$/, "")).join(" or ");
    errors.push(invalid(path, value, `should be a json path under ${below.length > 1 ? "either " : ""}${places}`));
  }
}

/** A definition that is kept has been stored in some version. */
export function storedVersionErrors(crd: Json): FieldError[] {
  const stored = list(record(crd.status).storedVersions);
  const wrong = (why: string): FieldError => ({
    field: "status.storedVersions",
    reason: "FieldValueInvalid",
    message: `Invalid value: ${JSON.stringify(stored.length === 0 ? null : stored)}: ${why}`,
  });
  if (stored.length === 0) return [wrong("must have at least one stored version")];
  // A name that stands twice is found once.
  const known = new Set(stored);
  return list(record(crd.spec).versions).flatMap((version) => {
    const { name, storage } = record(version);
    return !known.delete(name) && storage === true ? [wrong(`must have the storage version ${text(name)}`)] : [];
  });
}

/** What an update may not change, and stored versions that may not vanish. */
export function crdUpdateErrors(crd: Json, old: Json): FieldError[] {
  const errors: FieldError[] = [];
  const spec = record(crd.spec);
  const before = record(old.spec);
  const immutable = (path: string, is: unknown, was: unknown): void => {
    if (!sameJson(is, was))
      errors.push({
        field: path,
        reason: "FieldValueInvalid",
        message: `Invalid value: ${printed(is)}: field is immutable`,
      });
  };
  immutable("spec.group", spec.group, before.group);
  immutable("spec.names.plural", record(spec.names).plural, record(before.names).plural);
  immutable("spec.names.kind", record(spec.names).kind, record(before.names).kind);
  immutable("spec.scope", spec.scope, before.scope);
  const known = new Set(list(spec.versions).map((v) => record(v).name));
  for (const [i, stored] of list(record(crd.status).storedVersions).entries())
    if (!known.has(stored))
      errors.push(
        invalid(
          `status.storedVersions[${i}]`,
          stored,
          `missing from spec.versions; ${stored} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${stored} and removes ${stored} from status.storedVersions`,
        ),
      );
  return errors;
}
