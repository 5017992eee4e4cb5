/** What a CustomResourceDefinition means: its defaults, its rules, and the resources that it makes the server serve. */

import { sameJson } from "@slipway/base";
import { formatThatCounts } from "@slipway/cel/formats";
import type { Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { Body, Column, Convert, FieldError, ServedResource } from "../model/served.ts";
import { crdErrors, crdUpdateErrors } from "./crd-rules.ts";
import { type CrdSpec, type CrdVersion, schemaOf, specOf } from "./crd-shape.ts";
import { structuralErrors } from "./crd-structural.ts";
import { wholeObject } from "./object-meta.ts";
import { compareVersions } from "./versions.ts";

/** Fills in singular, listKind and conversion, and drops from schemas what upstream does not write, in place. */
export function defaultCrd(crd: Body): void {
  const spec = crd.spec;
  if (!isRecord(spec)) return;
  for (const version of Array.isArray(spec.versions) ? spec.versions : []) {
    const schema = isRecord(version) && isRecord(version.schema) ? version.schema.openAPIV3Schema : undefined;
    if (isRecord(schema)) tidySchema(schema);
  }
  const names = spec.names;
  if (isRecord(names) && typeof names.kind === "string" && names.kind !== "") {
    names.singular ||= names.kind.toLowerCase();
    names.listKind ||= `${names.kind}List`;
  }
  spec.conversion ??= { strategy: "None" };
  const conversion = spec.conversion;
  if (!isRecord(conversion)) return;
  conversion.strategy ??= "None";
  const webhook = conversion.webhook;
  const client = isRecord(webhook) ? webhook.clientConfig : undefined;
  if (isRecord(client) && isRecord(client.service)) client.service.port ??= 443;
}

/** Words whose zero values say something; others are left out when empty. */
const ALWAYS_WRITTEN = new Set([
  "default",
  "example",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "multipleOf",
  "additionalProperties",
  "optionalOldSelf",
  "x-kubernetes-preserve-unknown-fields",
]);

function tidySchema(schema: Record<string, unknown>): void {
  for (const [word, value] of Object.entries(schema)) {
    const empty =
      value === "" ||
      value === false ||
      (typeof value === "object" && value !== null && Object.keys(value).length === 0);
    if (UNKNOWN.has(word) || value === null || (empty && !ALWAYS_WRITTEN.has(word) && !SUBSCHEMA.has(word)))
      delete schema[word];
    else if (SUBSCHEMA.has(word) || word === "additionalProperties") tidyBelow(value);
    else if (word === "properties") for (const child of Object.values(value as object)) tidyBelow(child);
    else if (["allOf", "anyOf", "oneOf", "x-kubernetes-validations"].includes(word) && Array.isArray(value))
      value.forEach(tidyBelow);
  }
}

const SUBSCHEMA = new Set(["items", "not"]);
/** Words of OpenAPI that definitions don't have. */
const UNKNOWN = new Set(["deprecated", "discriminator", "readOnly", "writeOnly", "xml"]);

function tidyBelow(schema: unknown): void {
  if (isRecord(schema)) tidySchema(schema);
}

/**
 * What is wrong with a (defaulted) definition; `old` is set for updates. Schemas that did not change are not judged
 * again, so a definition that is already stored never becomes unchangeable.
 */
export function* validateCrd(crd: Body, old?: Body): Passes<FieldError[]> {
  const errors = crdErrors(crd, old);
  if (old !== undefined) errors.push(...crdUpdateErrors(crd, old));
  const versions = versionsOf(crd);
  const before = new Map(old === undefined ? [] : versionsOf(old).map((v) => [v.name, v.schema]));
  const first = versions[0]?.schema;
  // Upstream keeps a schema that all versions share in one place and names that place.
  const shared = versions.every((v) => sameJson(v.schema, first));
  for (const [i, version] of versions.entries()) {
    if (shared && i > 0) break;
    if (version.schema !== undefined && sameJson(version.schema, before.get(version.name))) continue;
    const path = shared ? "spec.validation.openAPIV3Schema" : `spec.versions[${i}].schema.openAPIV3Schema`;
    const missing = version.schema?.openAPIV3Schema === undefined;
    errors.push(
      ...(yield* structuralErrors(
        version.schema?.openAPIV3Schema,
        missing ? `spec.versions[${i}].schema.openAPIV3Schema` : path,
      )),
    );
  }
  return errors;
}

function versionsOf(crd: Body): CrdVersion[] {
  const spec = crd.spec;
  const versions = isRecord(spec) ? spec.versions : undefined;
  return Array.isArray(versions) ? versions.filter(isRecord).map((v) => v as unknown as CrdVersion) : [];
}

/** The formats in a definition's schemas that stand for nothing with the type they stand at, each once. */
export function unknownFormats(crd: Body): string[] {
  const found = new Set<string>();
  const look = (schema: unknown): void => {
    if (Array.isArray(schema)) for (const part of schema) look(part);
    if (!isRecord(schema)) return;
    const { type, format } = schema as { type?: string; format?: string };
    if (typeof format === "string" && formatThatCounts(type, format) === undefined) found.add(format);
    for (const word of ["items", "not", "allOf", "anyOf", "oneOf", "additionalProperties"]) look(schema[word]);
    look(Object.values(schema.properties ?? {}));
  };
  for (const { schema } of versionsOf(crd)) look(schema?.openAPIV3Schema);
  return [...found];
}

const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const AGE: Column = {
  name: "Age",
  type: "date",
  description: "Time since the object was created.",
  value: { jsonPath: ".metadata.creationTimestamp" },
};

/** One resource for each served version of a definition that passed `validateCrd`. `conversion` goes between its versions. */
export function servedFromCrd(crd: Body, conversion?: Convert): ServedResource[] {
  const spec = specOf(crd);
  const storage = spec.versions.find((v) => v.storage)!;
  const versions = new Map<string, ServedResource>();
  for (const version of spec.versions)
    versions.set(`${spec.group}/${version.name}`, {
      ...served(spec, version, storage.name),
      versions,
      conversion,
    });
  return spec.versions.filter((v) => v.served).map((v) => versions.get(`${spec.group}/${v.name}`)!);
}

function served(spec: CrdSpec, version: CrdVersion, storageVersion: string): ServedResource {
  const { names, group } = spec;
  const scale = version.subresources?.scale;
  return {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === "Namespaced",
    verbs: VERBS,
    status: version.subresources?.status !== undefined,
    ...(scale && { scale }),
    schema: wholeObject(schemaOf(version)),
    builtIn: false,
    columns: columnsOf(version),
    ...(version.selectableFields?.length && { selectableFields: selectable(version.selectableFields) }),
    hasGeneration: true,
    storageVersion: `${group}/${storageVersion}`,
    ...(version.deprecated === true && { deprecation: deprecationOf(spec, version) }),
  };
}

/** What whoever uses a deprecated version is warned of: the definition's own text, else the version to use instead, where there is one. */
function deprecationOf({ group, names, versions }: CrdSpec, { name, deprecationWarning }: CrdVersion): string {
  if (deprecationWarning !== undefined) return deprecationWarning;
  const [newest] = versions
    .filter((v) => v.served && v.deprecated !== true)
    .sort((a, b) => compareVersions(a.name, b.name));
  const instead = newest !== undefined && compareVersions(newest.name, name) < 0;
  return `${group}/${name} ${names.kind} is deprecated${instead ? `; use ${group}/${newest.name} ${names.kind}` : ""}`;
}

function columnsOf(version: CrdVersion): readonly Column[] {
  const columns = version.additionalPrinterColumns ?? [];
  if (columns.length === 0) return [AGE];
  return columns.map(({ jsonPath, ...column }) => ({
    description: `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    ...column,
    value: { jsonPath },
  }));
}

function selectable(fields: readonly { jsonPath: string }[]): Record<string, (object: Body) => string> {
  return Object.fromEntries(
    fields.map(({ jsonPath }) => {
      const steps = jsonPath.split(".").slice(1);
      const read = (object: Body): string => {
        let value: unknown = object;
        for (const step of steps) value = isRecord(value) ? value[step] : undefined;
        return value === undefined || value === null ? "" : String(value);
      };
      return [steps.join("."), read];
    }),
  );
}
