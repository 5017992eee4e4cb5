/** The requests that a resource answers, as data from which both OpenAPI versions write their `paths`. */
import type { ServedResource } from "../model/served.ts";
import { subresourcesOf } from "./discovery.ts";
import { META } from "./openapi-meta.ts";
import { definitionName, gvkOf, type Json, listDefinitionName } from "./openapi-schemas.ts";

export interface Operation {
  method: "get" | "put" | "post" | "delete" | "patch";
  id: string;
  action: string;
  description: string;
  gvk: Json;
  /** Whether the kind is built in. */
  builtIn: boolean;
  /** Definition of the request's body. */
  body?: string;
  query: readonly Parameter[];
  /** Definition of the answer. */
  answer: string;
}

export interface Parameter {
  name: string;
  type: "string" | "integer" | "boolean";
  description: string;
}

export interface Path {
  path: string;
  tag: string;
  /** Parameters of the path itself. */
  names: readonly string[];
  operations: readonly Operation[];
}

const parameter = (name: string, type: Parameter["type"], description: string): Parameter => ({
  name,
  type,
  description,
});
const pretty = parameter("pretty", "string", "Indent the answer.");
const WRITE: readonly Parameter[] = [
  pretty,
  parameter("dryRun", "string", "All: nothing is stored."),
  parameter("fieldManager", "string", "Who makes the change."),
  parameter("fieldValidation", "string", "Ignore, Warn or Strict: what becomes of unknown fields."),
];
const PATCH: readonly Parameter[] = [
  ...WRITE,
  parameter("force", "boolean", "Take over fields of other managers (apply)."),
];
const LIST: readonly Parameter[] = [
  pretty,
  parameter("allowWatchBookmarks", "boolean", "Send bookmarks."),
  parameter("continue", "string", "Token of the next page."),
  parameter("fieldSelector", "string", "Only objects with these field values."),
  parameter("labelSelector", "string", "Only objects with these labels."),
  parameter("limit", "integer", "Objects in a page."),
  parameter("resourceVersion", "string", "From which version on."),
  parameter("resourceVersionMatch", "string", "How resourceVersion is meant."),
  parameter("sendInitialEvents", "boolean", "Start a watch with what exists."),
  parameter("timeoutSeconds", "integer", "When to end."),
  parameter("watch", "boolean", "Send changes as they come."),
];
const DELETE: readonly Parameter[] = [
  pretty,
  parameter("dryRun", "string", "All: nothing is stored."),
  parameter("gracePeriodSeconds", "integer", "Seconds given to the object to end."),
  parameter("orphanDependents", "boolean", "Use propagationPolicy."),
  parameter("propagationPolicy", "string", "Orphan, Background or Foreground."),
];

/** All paths of a resource. */
export function pathsOf(resource: ServedResource): Path[] {
  const { group, version, kind } = resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const tag = `${group === "" ? "core" : group}_${version}`;
  const scope = resource.namespaced ? "Namespaced" : "";
  const base = resource.namespaced ? `${root}/namespaces/{namespace}` : root;
  const names = resource.namespaced ? ["namespace"] : [];
  const idOf = (verb: string, rest: string): string =>
    `${verb}${camel(group === "" ? "core" : group)}${camel(version)}${rest}`;
  const gvk = gvkOf(resource, kind);
  const self = definitionName(resource);
  const can = (verb: string): boolean => resource.verbs.includes(verb);
  /** Makes operations whose ids end in the same words. */
  const opsOn =
    (what: string): Make =>
    (method, action, verb, rest) => ({
      method,
      action,
      id: idOf(verb, what),
      description: `${verb} ${kind}`,
      gvk,
      builtIn: resource.builtIn,
      ...rest,
    });
  const op = opsOn(scope + kind);
  const emptied = { body: `${META}.DeleteOptions`, query: [...DELETE, ...LIST.slice(1)], answer: `${META}.Status` };
  const collection: Operation[] = [
    ...(can("list") ? [op("get", "list", "list", { query: LIST, answer: listDefinitionName(resource) })] : []),
    ...(can("create") ? [op("post", "post", "create", { body: self, query: WRITE, answer: self })] : []),
    ...(can("deletecollection")
      ? [opsOn(`Collection${scope}${kind}`)("delete", "deletecollection", "delete", emptied)]
      : []),
  ];
  const item = itemOperations(self, can, op);
  const paths: Path[] = [
    { path: `${base}/${resource.plural}`, tag, names, operations: collection },
    { path: `${base}/${resource.plural}/{name}`, tag, names: ["name", ...names], operations: item },
  ];
  for (const sub of subresourcesOf(resource)) {
    const foreign = { group: sub.group, kind: sub.kind, version: sub.version };
    const answer = sub.name === "scale" ? "io.k8s.api.autoscaling.v1.Scale" : self;
    if (sub.name === "eviction" || sub.name === "binding") continue;
    const subOp = opsOn(`${scope}${kind}${camel(sub.name)}`);
    paths.push({
      path: `${base}/${resource.plural}/{name}/${sub.name}`,
      tag,
      names: ["name", ...names],
      operations: itemOperations(
        answer,
        (verb) => sub.verbs.includes(verb),
        (...asked) => ({ ...subOp(...asked), gvk: foreign }),
      ),
    });
  }
  if (resource.namespaced && can("list"))
    paths.push({
      path: `${root}/${resource.plural}`,
      tag,
      names: [],
      operations: [
        opsOn(`${kind}ForAllNamespaces`)("get", "list", "list", { query: LIST, answer: listDefinitionName(resource) }),
      ],
    });
  return paths.filter((p) => p.operations.length > 0);
}

type Make = (
  method: Operation["method"],
  action: string,
  verb: string,
  rest: Omit<Operation, "method" | "action" | "id" | "gvk" | "description" | "builtIn">,
) => Operation;

function itemOperations(self: string, can: (verb: string) => boolean, op: Make): Operation[] {
  const item: Operation[] = [];
  if (can("get")) item.push(op("get", "get", "read", { query: [pretty], answer: self }));
  if (can("update")) item.push(op("put", "put", "replace", { body: self, query: WRITE, answer: self }));
  if (can("delete"))
    item.push(
      op("delete", "delete", "delete", { body: `${META}.DeleteOptions`, query: DELETE, answer: `${META}.Status` }),
    );
  if (can("patch")) item.push(op("patch", "patch", "patch", { body: `${META}.Patch`, query: PATCH, answer: self }));
  return item;
}

function camel(text: string): string {
  return text
    .split(/[.-]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");
}
