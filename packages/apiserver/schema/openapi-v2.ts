/** The OpenAPI v2 document (`/openapi/v2`): what kubectl before 1.27 explains and validates with. */
import type { Schema, ServedResource } from "../model/served.ts";
import { type Operation, type Path, pathsOf } from "./openapi-operations.ts";
import { type Dialect, definitions, type Json } from "./openapi-schemas.ts";

const ref = (name: string): string => `#/definitions/${name}`;

const EXTENSIONS = [
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-patch-strategy",
  "x-kubernetes-patch-merge-key",
  "x-kubernetes-validations",
] as const;
const WORDS = [
  "description",
  "format",
  "enum",
  "required",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
] as const;

/**
 * Swagger 2.0 can't say alternatives or what an integer-or-string is. Old clients take what they read literally, so where
 * it can't be said, nothing is: such values have no type here. It can't say `nullable` either, but old clients never check a null,
 * so nullable values keep their type (unlike upstream), and `explain` shows it.
 */
const dialect: Dialect = {
  silentOnOpenKinds: true,
  ref: (name, description) => ({ ...(description !== undefined && { description }), $ref: ref(name) }),
  words(schema: Schema, builtIn: boolean): Json {
    const said: Json = {};
    for (const word of WORDS) if (schema[word] !== undefined) said[word] = schema[word];
    for (const word of EXTENSIONS) if (schema[word] !== undefined) said[word] = schema[word];
    if (schema["x-kubernetes-int-or-string"] === true)
      return builtIn ? { ...said, type: "string", format: "int-or-string" } : said;
    const open = schema["x-kubernetes-preserve-unknown-fields"] === true && schema.properties !== undefined;
    if (schema.type !== undefined && !open) said.type = schema.type;
    if (said.type === undefined) delete said.required;
    return said;
  },
};

/** The document over all resources. Pure: the same resources give the same document. */
export function openApiV2(resources: readonly ServedResource[]): object {
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version: "v1.36.0" },
    paths: Object.fromEntries(resources.flatMap(pathsOf).map((p) => [p.path, pathItem(p)])),
    definitions: definitions(resources, dialect),
  };
}

function pathItem(path: Path): Json {
  const item: Json = {};
  for (const operation of path.operations) item[operation.method] = operationOf(operation, path.tag);
  item.parameters = path.names.map((name) => ({
    in: "path",
    name,
    required: true,
    type: "string",
    uniqueItems: true,
    description: name === "name" ? "Name of the object." : "Namespace of the object.",
  }));
  return item;
}

function operationOf(o: Operation, tag: string): Json {
  const body =
    o.body === undefined
      ? []
      : [{ in: "body", name: "body", required: o.method !== "delete", schema: { $ref: ref(o.body) } }];
  return {
    description: o.description,
    operationId: o.id,
    tags: [tag],
    consumes: o.method === "patch" ? patchTypes(o) : ["*/*"],
    produces: ["application/json", "application/yaml"],
    parameters: [...body, ...o.query.map((q) => ({ in: "query", uniqueItems: true, ...q }))],
    responses: { "200": { description: "OK", schema: { $ref: ref(o.answer) } } },
    "x-kubernetes-action": o.action,
    "x-kubernetes-group-version-kind": o.gvk,
  };
}

/** Media types of patches. Clients choose by them, so a strategic merge stands only where it is taken: with built-in kinds. */
export function patchTypes({ builtIn }: Operation): string[] {
  return [
    "application/json-patch+json",
    "application/merge-patch+json",
    ...(builtIn ? ["application/strategic-merge-patch+json"] : []),
    "application/apply-patch+yaml",
  ];
}
