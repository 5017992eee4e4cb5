/**
 * The definitions of OpenAPI documents: one for each served kind and its list, and the shared ones of `metav1`.
 * Both versions of OpenAPI are written from here; a `Dialect` says where they differ.
 */
import type { Schema, ServedResource } from "../model/served.ts";
import { objectMeta } from "./object-meta.ts";
import { META, metaDefinitions } from "./openapi-meta.ts";

export type Json = Record<string, unknown>;

export interface Dialect {
  /** A reference to a definition, in the place of a schema. */
  ref(name: string, description?: string): Json;
  /** What a schema's own words become, children not included. */
  words(schema: Schema, builtIn: boolean): Json;
  /** Of a custom kind whose objects may have any field, nothing is said but that they are objects: clients would refuse the fields that aren't named. */
  silentOnOpenKinds?: boolean;
}

/** Name of a kind's definition: the group's domain backwards for CRDs, upstream's packages for built-in kinds. */
export function definitionName(resource: Pick<ServedResource, "group" | "version" | "kind" | "builtIn">): string {
  const { group, version, kind } = resource;
  if (resource.builtIn && group.startsWith("apiextensions"))
    return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}.${kind}`;
  if (resource.builtIn)
    return `io.k8s.api.${group === "" ? "core" : (group.split(".")[0] ?? group)}.${version}.${kind}`;
  return `${group.split(".").reverse().join(".")}.${version}.${kind}`;
}

/** The name of the definition of a resource's list. */
export function listDefinitionName(resource: ServedResource): string {
  return definitionName({ ...resource, kind: resource.listKind });
}

/** An entry of `x-kubernetes-group-version-kind`. */
export function gvkOf(resource: Pick<ServedResource, "group" | "version">, kind: string): Json {
  return { group: resource.group, kind, version: resource.version };
}

/** All definitions that documents about `resources` refer to, by name. */
export function definitions(resources: readonly ServedResource[], dialect: Dialect): Record<string, Json> {
  const all: Record<string, Json> = {};
  for (const resource of resources) {
    all[definitionName(resource)] = {
      ...objectSchema(resource, dialect),
      "x-kubernetes-group-version-kind": [gvkOf(resource, resource.kind)],
    };
    all[listDefinitionName(resource)] = {
      type: "object",
      description: `A list of ${resource.kind} objects.`,
      required: ["items"],
      properties: {
        apiVersion: { type: "string", description: "APIVersion defines the group and version of this representation." },
        kind: { type: "string", description: "Kind of the list." },
        metadata: dialect.ref(`${META}.ListMeta`, "Data about the list."),
        items: {
          type: "array",
          description: "The objects.",
          items: dialect.ref(definitionName(resource)),
        },
      },
      "x-kubernetes-group-version-kind": [gvkOf(resource, resource.listKind)],
    };
  }
  for (const [name, { schema, gvk }] of Object.entries(metaDefinitions)) {
    all[name] = { ...translate(schema, dialect, true), ...(gvk && { "x-kubernetes-group-version-kind": gvk }) };
  }
  all[`${META}.ObjectMeta`] = translate(objectMeta, dialect, true);
  return all;
}

function objectSchema(resource: ServedResource, dialect: Dialect): Json {
  const open = !resource.builtIn && resource.schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (open && dialect.silentOnOpenKinds) return { type: "object" };
  const { metadata: _, ...own } = resource.schema.properties ?? {};
  const translated = translate({ ...resource.schema, properties: own }, dialect, resource.builtIn);
  const metadata = dialect.ref(`${META}.ObjectMeta`, "Standard object's metadata: data that every stored object has.");
  return { ...translated, type: "object", properties: { ...(translated.properties as Json), metadata } };
}

/** A schema in the words of a dialect, children included. */
export function translate(schema: Schema, dialect: Dialect, builtIn: boolean): Json {
  const into = dialect.words(schema, builtIn);
  // A dialect that can't say what a value is says nothing of what is in it either.
  if (into.type === undefined && schema.type !== undefined) return into;
  const properties = Object.entries(schema.properties ?? {});
  // An object without properties of its own has no empty list of them either: Go's types leave it out.
  if (properties.length > 0)
    into.properties = Object.fromEntries(properties.map(([name, child]) => [name, translate(child, dialect, builtIn)]));
  if (schema.items) into.items = translate(schema.items, dialect, builtIn);
  if (typeof schema.additionalProperties === "object")
    into.additionalProperties = translate(schema.additionalProperties, dialect, builtIn);
  return into;
}
