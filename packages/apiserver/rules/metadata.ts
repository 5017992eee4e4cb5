import { dnsLabel, dnsSubdomain, labelValue, type NameRule, pathSegment, qualifiedName } from "@slipway/cel/formats";
import { isRecord } from "../json/value.ts";
import type { Body, FieldError, ServedResource } from "../model/served.ts";

/** Rules on `metadata` that hold for every kind (apimachinery `ValidateObjectMeta`). */

const ANNOTATIONS_LIMIT = 256 * 1024;

/** How objects of a kind may be named, where that is not a DNS subdomain. */
const NAME_RULES: ReadonlyMap<string, NameRule> = new Map([
  ["/namespaces", dnsLabel],
  ["/services", dnsLabel],
  ["rbac.authorization.k8s.io/roles", pathSegment],
  ["rbac.authorization.k8s.io/rolebindings", pathSegment],
  ["rbac.authorization.k8s.io/clusterroles", pathSegment],
  ["rbac.authorization.k8s.io/clusterrolebindings", pathSegment],
  ["apiregistration.k8s.io/apiservices", pathSegment],
  ["certificates.k8s.io/certificatesigningrequests", () => []],
]);
/** Finalizers without a domain that built-in kinds may have. */
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

/** What is wrong with the metadata of an object, in upstream's order. `old` is set for updates. */
export function metadataErrors(object: Body, resource: ServedResource, old?: Body): FieldError[] {
  return [
    ...(old === undefined ? nameErrors(object, ruleFor(resource)) : frozenErrors(object, old)),
    ...contentErrors(object),
    ...finalizerErrors(object.metadata.finalizers ?? [], resource, old),
  ];
}

/** What is wrong with the metadata of an object inside a custom resource, which may have any name that fits in a path, or none. */
export function embeddedMetadataErrors(object: Body): FieldError[] {
  const { name, finalizers = [] } = object.metadata;
  const named = { ...object, metadata: { ...object.metadata, name: name || "unnamed" } };
  return [
    ...nameErrors(named, pathSegment),
    ...contentErrors(object),
    ...finalizerErrors(finalizers, { builtIn: false, group: "" }),
  ];
}

function contentErrors(object: Body): FieldError[] {
  const { labels = {}, annotations = {} } = object.metadata;
  const errors: FieldError[] = [];
  for (const key of Object.keys(labels)) {
    if (errors.length > MOST_TOLD) break;
    errors.push(...bad("labels", key, qualifiedName(key)));
    errors.push(...bad("labels", labels[key], labelValue(labels[key]!)));
  }
  return errors.concat(annotationErrors(annotations), ownerErrors(object));
}

/** An error takes more than 60 letters: beyond so many none is reported (`MAX_ERROR_CHARS`), so none is looked for. */
const MOST_TOLD = 5000;

/** What is wrong with names that are qualified. */
function badNames(field: string, names: readonly string[], judged = (name: string) => name): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of names) {
    if (errors.length > MOST_TOLD) break;
    errors.push(...bad(field, name, qualifiedName(judged(name))));
  }
  return errors;
}

const NONE: readonly FieldError[] = [];

/** One error for each thing that is wrong with a value. */
function bad(field: string, value: unknown, rules: readonly string[]): readonly FieldError[] {
  if (rules.length === 0) return NONE;
  return rules.map((rule) => ({
    field: `metadata.${field}`,
    reason: "FieldValueInvalid",
    message: `Invalid value: ${JSON.stringify(value)}: ${rule}`,
  }));
}

function ruleFor({ group, plural }: ServedResource): NameRule {
  return NAME_RULES.get(`${group}/${plural}`) ?? dnsSubdomain;
}

function nameErrors({ metadata }: Body, rule: NameRule): FieldError[] {
  const { name, generateName = "" } = metadata;
  // The dash that a prefix ends in has something behind it in the end.
  const prefix = rule === pathSegment ? generateName : generateName.replace(/.-$/, "a");
  return [
    ...(generateName === "" ? [] : bad("generateName", generateName, rule(prefix))),
    ...bad("name", name, rule(name)),
  ];
}

function annotationErrors(annotations: Readonly<Record<string, string>>): FieldError[] {
  const keys = Object.keys(annotations);
  const errors = badNames("annotations", keys, (key) => key.toLowerCase());
  let size = 0;
  for (const key of keys) size += key.length + annotations[key]!.length;
  if (size <= ANNOTATIONS_LIMIT) return errors;
  const message = `Too long: may not be more than ${ANNOTATIONS_LIMIT} bytes`;
  return [...errors, { field: "metadata.annotations", reason: "FieldValueTooLong", message }];
}

function ownerErrors({ metadata }: Body): FieldError[] {
  const owners = metadata.ownerReferences ?? [];
  const errors: FieldError[] = [];
  let controller = "";
  let all: string | undefined;
  for (const owner of owners) {
    if (errors.length > MOST_TOLD) break;
    const { apiVersion = "", kind = "" } = owner;
    if (apiVersion === "" || apiVersion.split("/").length > 2)
      errors.push(...bad("ownerReferences.apiVersion", apiVersion, ["version must not be empty"]));
    for (const field of ["kind", "name", "uid"] as const)
      if ((owner[field] ?? "") === "") errors.push(...bad(`ownerReferences.${field}`, "", ["must not be empty"]));
    if (kind === "Event" && apiVersion === "v1")
      errors.push(...bad("ownerReferences", owner, ["/v1, Kind=Event is disallowed from being an owner"]));
    if (owner.controller !== true) continue;
    const name = `${kind}/${owner.name}`;
    if (controller === "") controller = name;
    else {
      // Each complaint shows the whole list, whose text is made once.
      all ??= JSON.stringify(owners);
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push({
        field: "metadata.ownerReferences",
        reason: "FieldValueInvalid",
        message: `Invalid value: ${all}: ${why}`,
      });
    }
  }
  return errors;
}

function finalizerErrors(
  finalizers: readonly string[],
  resource: Pick<ServedResource, "builtIn" | "group">,
  old?: Body,
): FieldError[] {
  const both = finalizers.includes("orphan") && finalizers.includes("foregroundDeletion");
  // Definitions and their objects are judged by a server of their own, which lets short names pass.
  const isStrict = resource.builtIn && resource.group !== "apiextensions.k8s.io";
  const short = isStrict ? finalizers.map((name, i) => [name, i] as const) : [];
  return [
    ...(old !== undefined && resource.builtIn ? [] : badNames("finalizers", finalizers)),
    ...(both && old === undefined
      ? bad("finalizers", finalizers, ["finalizer orphan and foregroundDeletion cannot be both set"])
      : []),
    ...short.flatMap(([name, i]) =>
      name.includes("/") || STANDARD_FINALIZERS.has(name)
        ? []
        : bad(`finalizers[${i}]`, name, ["name is neither a standard finalizer name nor is it fully qualified"]),
    ),
  ];
}

/** What is advised against in the finalizers that a write adds to a custom resource. */
export function finalizerWarnings({ metadata }: Body, old?: Body): string[] {
  const before = new Set(old?.metadata.finalizers);
  const added = [...new Set(metadata.finalizers)].filter((name) => !before.has(name)).sort();
  return added.flatMap((name) => {
    const isShort = !name.includes("/") && !STANDARD_FINALIZERS.has(name);
    const how = name.includes(".") ? "name including a path (/)" : "name";
    const advice = `prefer a domain-qualified finalizer ${how} to avoid accidental conflicts with other finalizer writers`;
    return [...qualifiedName(name), ...(isShort ? [advice] : [])].map(
      (text) => `metadata.finalizers: ${JSON.stringify(name)}: ${text}`,
    );
  });
}

function frozenErrors({ metadata }: Body, old: Body): FieldError[] {
  const errors: FieldError[] = [];
  if (old.metadata.deletionTimestamp !== undefined) {
    const before = new Set(old.metadata.finalizers ?? []);
    const added = (metadata.finalizers ?? []).filter((f) => !before.has(f));
    const list = added.map((f) => JSON.stringify(f)).join(", ");
    const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
    if (added.length > 0) errors.push({ field: "metadata.finalizers", reason: "FieldValueForbidden", message });
  }
  for (const field of ["name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"] as const)
    if (metadata[field] !== old.metadata[field])
      errors.push(...bad(field, metadata[field] ?? null, ["field is immutable"]));
  return errors;
}

/** What keeps a name from being a DNS subdomain. */
export function subdomainRule(name: string): string | undefined {
  return dnsSubdomain(name)[0];
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
