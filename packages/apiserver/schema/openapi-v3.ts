/** The OpenAPI v3 documents (`/openapi/v3` and one for each group and version): what today's kubectl explains and validates with. */
import { createHash } from "node:crypto";
import type { Schema, ServedResource } from "../model/served.ts";
import { groupVersionOf } from "./discovery.ts";
import { type Operation, type Path, pathsOf } from "./openapi-operations.ts";
import { type Dialect, definitions, type Json } from "./openapi-schemas.ts";
import { patchTypes } from "./openapi-v2.ts";

const ref = (name: string): string => `#/components/schemas/${name}`;
const STRUCTURE = new Set(["properties", "items", "additionalProperties", "$schema"]);

const dialect: Dialect = {
  // A reference may not stand beside a description, hence the one-element allOf.
  ref: (name, description) =>
    description === undefined ? { $ref: ref(name) } : { description, allOf: [{ $ref: ref(name) }] },
  words(schema: Schema, builtIn: boolean): Json {
    const said: Json = Object.fromEntries(
      Object.entries(schema).filter(([word, value]) => !STRUCTURE.has(word) && value !== undefined),
    );
    if (schema.additionalProperties === true) said.additionalProperties = true;
    if (!builtIn && schema["x-kubernetes-int-or-string"] === true)
      return { ...said, anyOf: [{ type: "integer" }, { type: "string" }] };
    if (builtIn && schema["x-kubernetes-int-or-string"] === true)
      return { ...said, format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] };
    return said;
  },
};

/** `GET /openapi/v3`: where the documents are. The hash in an address changes with the document. */
export function openApiV3Index(resources: readonly ServedResource[]): object {
  const paths: Record<string, object> = {};
  for (const groupVersion of new Set(resources.map(groupVersionOf))) {
    const served = resources.filter((r) => groupVersionOf(r) === groupVersion);
    const root = groupVersion.includes("/") ? `apis/${groupVersion}` : `api/${groupVersion}`;
    const hash = createHash("sha256").update(JSON.stringify(served)).digest("hex").slice(0, 32).toUpperCase();
    paths[root] = { serverRelativeURL: `/openapi/v3/${root}?hash=${hash}` };
  }
  return { paths };
}

/** The document of one group and version; undefined when nothing is served there. */
export function openApiV3(resources: readonly ServedResource[], group: string, version: string): object | undefined {
  const served = resources.filter((r) => r.group === group && r.version === version);
  if (served.length === 0) return undefined;
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1.36.0" },
    paths: Object.fromEntries(served.flatMap(pathsOf).map((p) => [p.path, pathItem(p)])),
    components: { schemas: definitions(served, dialect) },
  };
}

function pathItem(path: Path): Json {
  const item: Json = {};
  for (const operation of path.operations) item[operation.method] = operationOf(operation, path.tag);
  // Upstream's types drop what says nothing: empty lists, and false where false is meant anyway.
  if (path.names.length > 0)
    item.parameters = path.names.map((name) => ({
      in: "path",
      name,
      required: true,
      description: name === "name" ? "Name of the object." : "Namespace of the object.",
      schema: { type: "string", uniqueItems: true },
    }));
  return item;
}

function operationOf(o: Operation, tag: string): Json {
  const types = o.method === "patch" ? patchTypes(o) : ["*/*"];
  const content = (name: string, media: readonly string[]): Json =>
    Object.fromEntries(media.map((type) => [type, { schema: { $ref: ref(name) } }]));
  return {
    description: o.description,
    operationId: o.id,
    tags: [tag],
    parameters: o.query.map(({ name, type, description }) => ({
      in: "query",
      name,
      description,
      schema: { type, uniqueItems: true },
    })),
    ...(o.body !== undefined && {
      requestBody: { ...(o.method !== "delete" && { required: true }), content: content(o.body, types) },
    }),
    responses: {
      "200": { description: "OK", content: content(o.answer, ["application/json", "application/yaml"]) },
    },
    "x-kubernetes-action": o.action,
    "x-kubernetes-group-version-kind": o.gvk,
  };
}
