import { type Attributes, denial } from "./auth/authorize.ts";
import { REVIEWS, review } from "./auth/reviews.ts";
import { decodeBody, mediaType } from "./body.ts";
import type { Call, Core } from "./core.ts";
import { type Documents, documents } from "./documents.ts";
import { duplicateFields } from "./duplicates.ts";
import { copyJson, isRecord } from "./json-value.ts";
import type { ServerMetrics } from "./metrics.ts";
import { parseResourcePath, type ResourcePath } from "./path.ts";
import { negotiate, present, presentEvents } from "./present.ts";
import type { ServerAnswer, ServerRequest, User } from "./request.ts";
import type { ServedResource } from "./served.ts";
import { forbidden, methodNotAllowed, noSuchPath, refusal } from "./status.ts";
import { create } from "./verbs/create.ts";
import { deleteOptions, remove, removeObject } from "./verbs/delete.ts";
import { evict } from "./verbs/eviction.ts";
import { get, list, type ObjectList } from "./verbs/list.ts";
import { decodeObject } from "./verbs/object.ts";
import { patch } from "./verbs/patch.ts";
import { scale } from "./verbs/scale.ts";
import { rewrite, update } from "./verbs/update.ts";
import { watch } from "./verbs/watch.ts";

/** Answers authenticated requests: authorization, then the verb. Refusals are thrown. */
export function dispatcher(
  core: Core,
  metrics: ServerMetrics,
): (request: ServerRequest, user: User) => Promise<ServerAnswer> {
  const docs = documents(core);
  return (request, user) => {
    const path = parseResourcePath(request.path);
    return path === undefined ? document(core, docs, metrics, request, user) : resource(core, request, user, path);
  };
}

async function document(
  core: Core,
  docs: Documents,
  metrics: ServerMetrics,
  request: ServerRequest,
  user: User,
): Promise<ServerAnswer> {
  const verb = request.method.toLowerCase();
  const attributes = {
    user,
    verb,
    group: "",
    version: "",
    plural: "",
    subresource: "",
    namespace: "",
    name: "",
    path: request.path,
  };
  const { allowed, reason } = await core.authorize(attributes);
  if (!allowed) throw refusal("Forbidden", `forbidden: ${denial(attributes, reason)}`, {});
  const answer = request.path === "/metrics" ? await metrics.scrape() : docs(request);
  if (answer === undefined) throw noSuchPath();
  return answer;
}

const SUBRESOURCE_VERBS: Readonly<Record<string, readonly string[]>> = {
  status: ["get", "update", "patch"],
  scale: ["get", "update", "patch"],
  eviction: ["create"],
  finalize: ["update"],
  approval: ["get", "update", "patch"],
};

async function resource(core: Core, request: ServerRequest, user: User, path: ResourcePath): Promise<ServerAnswer> {
  const { group, version, plural, namespace, name, subresource } = path;
  const verb = verbOf(request, path);
  const attributes: Attributes = {
    user,
    verb,
    group,
    version,
    plural,
    subresource,
    namespace,
    name,
    path: request.path,
  };
  const { allowed, reason } = await core.authorize(attributes);
  if (!allowed) throw forbidden({ group, plural, kind: plural }, name, denial(attributes, reason));

  const isReview = REVIEWS.some((r) => r.group === group && r.plural === plural);
  if (isReview && verb === "create") {
    const body = decodeBody(request.body, request.headers["content-type"] ?? "");
    return {
      status: 201,
      headers: { "content-type": "application/json" },
      body: await review(core, group, plural, body, user),
    };
  }
  const found = core.registry.find(group, version, plural);
  if (found === undefined) throw noSuchPath();
  checkSupported(found, path, verb);
  const form = negotiate(request.headers.accept);
  const call: Call = {
    core,
    user,
    resource: found,
    namespace: namespaceOf(found, path),
    name,
    subresource,
    query: request.query,
    headers: request.headers,
    contentType: request.headers["content-type"] ?? "application/json",
    body:
      request.method === "GET"
        ? undefined
        : decodeBody(request.body, request.headers["content-type"] ?? "application/json"),
    duplicates: statedTwice(request),
    warnings: found.deprecation === undefined ? [] : [found.deprecation],
    signal: request.signal,
  };
  // What is read must be as durable as what was acknowledged.
  for (let pending = core.store.durable(); pending !== undefined; pending = core.store.durable()) await pending;
  if (verb === "watch") {
    const events = watch(call);
    return {
      status: 200,
      headers: { "content-type": "application/json" },
      stream: form.as === "object" ? events : presentEvents(form, call, events),
    };
  }
  const { status, body } = await carryOut(call, verb);
  await core.store.durable();
  return { status, headers: headersFor(form.media, call), body: present(form, call, body) };
}

/** Of interest only where fields are validated, and readable only in JSON (YAML with duplicates is refused by its parser). */
function statedTwice({ method, body, headers, query }: ServerRequest): string[] {
  const json = mediaType(headers["content-type"] ?? "application/json").endsWith("json");
  const counts = ["POST", "PUT", "PATCH"].includes(method) && query.get("fieldValidation") !== "Ignore";
  return json && counts && typeof body === "string" ? duplicateFields(body) : [];
}

function verbOf({ method, query }: ServerRequest, { name, watch: old }: ResourcePath): string {
  switch (method) {
    case "GET":
    case "HEAD": {
      const watching = old || ["true", "1"].includes(query.get("watch") ?? "");
      if (watching) {
        if (name !== "") query.append("fieldSelector", `metadata.name=${name}`);
        return "watch";
      }
      return name === "" ? "list" : "get";
    }
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return name === "" ? "deletecollection" : "delete";
    default:
      return method.toLowerCase();
  }
}

function checkSupported(resource: ServedResource, { name, namespace, subresource }: ResourcePath, verb: string): void {
  if (resource.namespaced ? namespace === "" && name !== "" : namespace !== "") throw noSuchPath();
  if (subresource === "") {
    if (
      !resource.verbs.includes(verb) ||
      (name !== "" && verb === "create") ||
      (name === "" && ["update", "patch"].includes(verb))
    )
      throw methodNotAllowed(resource, verb);
    if (resource.namespaced && namespace === "" && !["list", "watch"].includes(verb))
      throw methodNotAllowed(resource, verb);
    return;
  }
  const { group, plural } = resource;
  const has =
    (subresource === "status" && resource.status) ||
    (subresource === "scale" && resource.scale !== undefined) ||
    (subresource === "eviction" && group === "" && plural === "pods") ||
    (subresource === "finalize" && group === "" && plural === "namespaces") ||
    (subresource === "approval" && plural === "certificatesigningrequests");
  if (!has) throw noSuchPath();
  if (!SUBRESOURCE_VERBS[subresource]!.includes(verb)) throw methodNotAllowed(resource, verb);
}

function namespaceOf(resource: ServedResource, path: ResourcePath): string {
  return resource.namespaced ? path.namespace : "";
}

async function carryOut(call: Call, verb: string): Promise<{ status: number; body: unknown }> {
  if (call.subresource === "scale") return { status: 200, body: await scale(call, verb) };
  if (call.subresource === "eviction") return { status: 201, body: await evict(call) };
  switch (verb) {
    case "get":
      return { status: 200, body: get(call) };
    case "list":
      return { status: 200, body: list(call) };
    case "create":
      return { status: 201, body: await create(call) };
    case "update":
      return { status: 200, body: await putOrCreate(call) };
    case "patch": {
      const { object, created } = await patch(call);
      return { status: created ? 201 : 200, body: object };
    }
    case "delete":
      return { status: 200, body: await remove(call) };
    case "deletecollection":
      return { status: 200, body: await removeAll(call) };
    default:
      throw methodNotAllowed(call.resource, verb);
  }
}

/** `finalize` replaces `spec.finalizers` only. */
async function putOrCreate(call: Call): Promise<unknown> {
  if (call.subresource !== "finalize") return update(call);
  const { finalizers } = {
    finalizers: [],
    ...(isRecord(call.body) && isRecord(call.body.spec) ? call.body.spec : {}),
  };
  decodeObject(call, call.body);
  return rewrite(call, (live) => {
    const next = copyJson(live);
    next.spec = { ...(live.spec as object | undefined), finalizers };
    return next;
  });
}

async function removeAll(call: Call): Promise<ObjectList> {
  const options = deleteOptions(call);
  const found = list(call);
  for (const object of found.items) {
    const { name, namespace = "" } = object.metadata;
    try {
      await removeObject({ ...call, name, namespace }, options);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "NotFound")) throw error;
    }
  }
  return found;
}

function headersFor(media: string, call: Call): Record<string, string> {
  if (call.warnings.length === 0) return { "content-type": media };
  // RFC 7234 §5.5: code, agent, quoted text.
  const warning = call.warnings.map((text) => `299 - ${JSON.stringify(text.replace(/[^\x20-\x7e]/g, "?"))}`).join(", ");
  return { "content-type": media, warning };
}
