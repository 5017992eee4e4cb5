/** The rules on a CustomResourceDefinition besides those on its schemas. Input may be anything that is JSON. */
import { conversionErrors } from "../conversion/rules.ts";
import type { FieldError } from "../served.ts";
import { sameJson } from "./equality.ts";
import { invalid, notSupported, printed, required } from "./field-error.ts";
import { isRecord } from "./node.ts";

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

/** Names, group, scope and versions of the definition. */
export function crdErrors(crd: Json): FieldError[] {
  const errors: FieldError[] = [];
  const spec = record(crd.spec);
  const names = record(spec.names);
  const group = text(spec.group);
  const plural = text(names.plural);
  const metadata = record(crd.metadata);
  if (text(metadata.name) !== `${plural}.${group}`)
    errors.push(invalid("metadata.name", metadata.name ?? "", 'must be spec.names.plural+"."+spec.group'));
  groupErrors(group, metadata, errors);
  namesErrors(names, errors);
  if (spec.scope === undefined || spec.scope === "") errors.push(required("spec.scope"));
  else if (spec.scope !== "Cluster" && spec.scope !== "Namespaced")
    errors.push(notSupported("spec.scope", spec.scope, ["Cluster", "Namespaced"]));
  if (spec.preserveUnknownFields === true) errors.push(invalid("spec.preserveUnknownFields", true, "must be false"));
  errors.push(...conversionErrors(record(spec.conversion), "spec.conversion"));
  versionsErrors(list(spec.versions), errors);
  return errors;
}

function groupErrors(group: string, metadata: Json, errors: FieldError[]): void {
  if (group === "") return void errors.push(required("spec.group"));
  if (!group.split(".").every((part) => LABEL.test(part)) || group.length > 253)
    errors.push(invalid("spec.group", group, SUBDOMAIN_ADVICE));
  else if (!group.includes(".")) errors.push(invalid("spec.group", group, "should be a domain with at least one dot"));
  const isProtected = /(^|\.)(k8s|kubernetes)\.io$/.test(group);
  const approval = text(record(metadata.annotations)[APPROVAL]);
  if (isProtected && approval === "")
    errors.push(
      required(
        `metadata.annotations[${APPROVAL}]`,
        `protected groups must have approval annotation "${APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111`,
      ),
    );
}

function namesErrors(names: Json, errors: FieldError[]): void {
  for (const field of ["plural", "singular"]) {
    const value = text(names[field]);
    const at = `spec.names.${field}`;
    if (value === "" && field === "plural") errors.push(required(at));
    else if (value !== "" && !(LABEL_1035.test(value) && value.length <= 63))
      errors.push(invalid(at, value, LABEL_ADVICE));
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
  const seen = new Set<string>();
  for (const [i, item] of versions.entries()) {
    const version = record(item);
    const at = `spec.versions[${i}]`;
    const name = text(version.name);
    if (!LABEL_1035.test(name) || name.length > 63) errors.push(invalid(`${at}.name`, name, LABEL_ADVICE));
    if (seen.has(name)) errors.push(invalid("spec.versions", names(versions), "must contain unique version names"));
    seen.add(name);
    for (const flag of ["served", "storage"])
      if (typeof version[flag] !== "boolean") errors.push(required(`${at}.${flag}`));
    columnErrors(list(version.additionalPrinterColumns), `${at}.additionalPrinterColumns`, errors);
    scaleErrors(record(version.subresources).scale, `${at}.subresources.scale`, errors);
    for (const [j, field] of list(version.selectableFields).entries())
      pathErrors(record(field).jsonPath, [""], `${at}.selectableFields[${j}].jsonPath`, errors);
  }
  const stored = versions.filter((v) => record(v).storage === true).length;
  if (stored !== 1)
    errors.push(invalid("spec.versions", names(versions), "must have exactly one version marked as storage version"));
}

function names(versions: unknown[]): unknown {
  return versions.map((v) => record(v).name);
}

function columnErrors(columns: unknown[], path: string, errors: FieldError[]): void {
  const types = ["boolean", "date", "integer", "number", "string"];
  for (const [i, item] of columns.entries()) {
    const column = record(item);
    if (text(column.name) === "") errors.push(required(`${path}[${i}].name`));
    if (column.type === undefined || column.type === "")
      errors.push(required(`${path}[${i}].type`, `must be one of ${types.join(",")}`));
    else if (!types.includes(text(column.type)))
      errors.push(invalid(`${path}[${i}].type`, column.type, `must be one of ${types.join(",")}`));
    if (text(column.jsonPath) === "") errors.push(required(`${path}[${i}].jsonPath`));
  }
}

function scaleErrors(scale: unknown, path: string, errors: FieldError[]): void {
  if (scale === undefined) return;
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = record(scale);
  pathErrors(specReplicasPath, [".spec."], `${path}.specReplicasPath`, errors);
  pathErrors(statusReplicasPath, [".status."], `${path}.statusReplicasPath`, errors);
  if (labelSelectorPath !== undefined)
    pathErrors(labelSelectorPath, [".spec.", ".status."], `${path}.labelSelectorPath`, errors);
}

function pathErrors(value: unknown, below: readonly string[], path: string, errors: FieldError[]): void {
  if (text(value) === "") return void errors.push(required(path));
  if (!/^(\.[A-Za-z0-9_-]+)+$/.test(text(value)))
    errors.push(invalid(path, value, "should be a simple json path in dot notation"));
  else if (!below.some((prefix) => text(value).startsWith(prefix)))
    errors.push(
      invalid(path, value, `should be a json path under ${below.map((b) => b.replace(/\.$/, "")).join(" or ")}`),
    );
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
