import { isRecord } from "../json-value.ts";
import type { Body, FieldError, ServedResource } from "../served.ts";

/** Rules on `metadata` that hold for every kind (apimachinery `ValidateObjectMeta`). */

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const ANNOTATIONS_LIMIT = 256 * 1024;

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** Kinds whose names become one DNS label. */
const LABEL_NAMED: ReadonlySet<string> = new Set(["/namespaces", "/services"]);
/** Kinds whose names are only path segments. */
const PATH_NAMED = /^(rbac\.authorization\.k8s\.io|apiregistration\.k8s\.io)\/$/;

/** What is wrong with the metadata of an object, in the order of its fields. `old` is set for updates. */
export function metadataErrors(object: Body, resource: ServedResource, old?: Body): FieldError[] {
  const { metadata } = object;
  const errors: FieldError[] = [];
  const bad = (field: string, value: unknown, rule: string): void => {
    errors.push({
      field: `metadata.${field}`,
      reason: "FieldValueInvalid",
      message: `Invalid value: ${JSON.stringify(value)}: ${rule}`,
    });
  };
  if (old === undefined) {
    const wrong = nameRule(metadata.name, resource);
    if (wrong !== undefined) bad("name", metadata.name, wrong);
  }
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    const wrong = qualifiedRule(key);
    if (wrong !== undefined) bad("labels", key, wrong);
    if (value.length > 63) bad("labels", value, "must be no more than 63 characters");
    else if (value !== "" && !QUALIFIED.test(value)) bad("labels", value, VALUE_RULE);
  }
  let size = 0;
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    const wrong = qualifiedRule(key.toLowerCase());
    if (wrong !== undefined) bad("annotations", key, wrong);
    size += key.length + value.length;
  }
  if (size > ANNOTATIONS_LIMIT)
    errors.push({
      field: "metadata.annotations",
      reason: "FieldValueTooLong",
      message: `Too long: may not be more than ${ANNOTATIONS_LIMIT} bytes`,
    });
  for (const finalizer of metadata.finalizers ?? []) {
    const wrong = qualifiedRule(finalizer);
    if (wrong !== undefined) bad("finalizers", finalizer, wrong);
  }
  ownerErrors(object, errors, bad);
  if (old !== undefined) errors.push(...frozenErrors(object, old, bad));
  return errors;
}

function ownerErrors(object: Body, errors: FieldError[], bad: (f: string, v: unknown, rule: string) => void): void {
  let controllers = 0;
  for (const [i, owner] of (object.metadata.ownerReferences ?? []).entries()) {
    for (const field of ["apiVersion", "kind", "name", "uid"] as const)
      if (owner[field] === undefined || owner[field] === "")
        bad(`ownerReferences[${i}].${field}`, owner[field] ?? "", "must not be empty");
    if (owner.controller === true && ++controllers === 2)
      errors.push({
        field: "metadata.ownerReferences",
        reason: "FieldValueInvalid",
        message: `Invalid value: ${JSON.stringify(owner.name)}: Only one reference can have Controller set to true`,
      });
  }
}

function frozenErrors(object: Body, old: Body, bad: (f: string, v: unknown, rule: string) => void): FieldError[] {
  for (const field of ["name", "namespace", "uid"] as const)
    if (object.metadata[field] !== old.metadata[field]) bad(field, object.metadata[field], "field is immutable");
  if (old.metadata.deletionTimestamp === undefined) return [];
  const before = new Set(old.metadata.finalizers ?? []);
  const added = (object.metadata.finalizers ?? []).filter((f) => !before.has(f));
  if (added.length === 0) return [];
  const list = added.map((f) => JSON.stringify(f)).join(", ");
  return [
    {
      field: "metadata.finalizers",
      reason: "FieldValueForbidden",
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    },
  ];
}

function nameRule(name: string, resource: ServedResource): string | undefined {
  const key = `${resource.group}/${resource.plural}`;
  if (resource.group !== "" && PATH_NAMED.test(`${resource.group}/`))
    return name === "." || name === ".."
      ? `may not be '${name}'`
      : /[/%]/.test(name)
        ? `may not contain '${/[/%]/.exec(name)![0]}'`
        : undefined;
  if (LABEL_NAMED.has(key)) {
    if (name.length > 63) return "must be no more than 63 characters";
    return LABEL.test(name) ? undefined : LABEL_RULE;
  }
  return subdomainRule(name);
}

/** What keeps a name from being a DNS subdomain. */
export function subdomainRule(name: string): string | undefined {
  if (name.length > 253) return "must be no more than 253 characters";
  return SUBDOMAIN.test(name) ? undefined : SUBDOMAIN_RULE;
}

function qualifiedRule(key: string): string | undefined {
  const parts = key.split("/");
  if (parts.length > 2)
    return `a qualified name ${QUALIFIED_RULE.replace("name part ", "")} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
  const [prefix, name] = parts.length === 2 ? [parts[0]!, parts[1]!] : [undefined, parts[0]!];
  if (prefix !== undefined && (prefix.length > 253 || !SUBDOMAIN.test(prefix))) return `prefix part ${SUBDOMAIN_RULE}`;
  if (name === "") return "name part must be non-empty";
  if (name.length > 63) return "name part must be no more than 63 characters";
  return QUALIFIED.test(name) ? undefined : QUALIFIED_RULE;
}

/** What has the wrong type in `metadata`, as a decoder would say it; undefined when all is well. */
export function malformedMetadata(metadata: unknown): string | undefined {
  if (!isRecord(metadata)) return "metadata: expected an object";
  for (const field of [
    "name",
    "namespace",
    "generateName",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
  ])
    if (metadata[field] !== undefined && metadata[field] !== null && typeof metadata[field] !== "string")
      return `metadata.${field}: expected a string`;
  for (const field of ["labels", "annotations"]) {
    const map = metadata[field] ?? {};
    if (!isRecord(map)) return `metadata.${field}: expected an object`;
    for (const [key, value] of Object.entries(map))
      if (typeof value !== "string") return `metadata.${field}.${key}: expected a string`;
  }
  const finalizers = metadata.finalizers ?? [];
  if (!Array.isArray(finalizers) || finalizers.some((f) => typeof f !== "string"))
    return "metadata.finalizers: expected strings";
  const owners = metadata.ownerReferences ?? [];
  if (!Array.isArray(owners) || owners.some((o) => !isRecord(o))) return "metadata.ownerReferences: expected objects";
  const managed = metadata.managedFields ?? [];
  if (!Array.isArray(managed) || managed.some((m) => !isRecord(m))) return "metadata.managedFields: expected objects";
  return undefined;
}
