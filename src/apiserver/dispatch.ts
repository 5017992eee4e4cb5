import { requestToken } from "./auth/accounts/token-request.ts";
import { attributesOf } from "./auth/attributes.ts";
import { permit } from "./auth/denial.ts";
import { impersonation } from "./auth/impersonate.ts";
import { checkBodyType } from "./body-type.ts";
import type { Call, Core } from "./core.ts";
import { documents, NO_PAGE } from "./documents.ts";
import { copyJson, isRecord } from "./json-value.ts";
import type { ServerMetrics } from "./metrics.ts";
import { checkAccept, negotiate, negotiateStream } from "./negotiate.ts";
import { parseResourcePath, type ResourcePath } from "./path.ts";
import { present, presentEvents } from "./present.ts";
import type { ServerAnswer, ServerRequest, User } from "./request.ts";
import { readBody } from "./request-body.ts";
import { checkTimeout } from "./request-timeout.ts";
import { hasRoute, verbOf } from "./route.ts";
import type { ServedResource } from "./served.ts";
import { methodNotAllowed, noSuchPath } from "./status.ts";
import { bind } from "./verbs/binding.ts";
import { create } from "./verbs/create.ts";
import { unreadableBody } from "./verbs/custom-object.ts";
import { remove, removeObject } from "./verbs/delete.ts";
import { deleteOptions } from "./verbs/delete-options.ts";
import { evict } from "./verbs/eviction.ts";
import { Unreadable } from "./verbs/head.ts";
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
  pages: readonly ((request: ServerRequest) => ServerAnswer | undefined)[],
): (request: ServerRequest, user: User) => Promise<ServerAnswer> {
  const docs = documents(core);
  const impersonate = impersonation(core.authorize);
  return async (request, requestor) => {
    const path = parseResourcePath(request.path);
    const verb = path === undefined ? "" : verbOf(request, path);
    const asked = attributesOf(request, requestor, path, verb);
    const user = await impersonate(asked, request.headers);
    await permit({ ...asked, user }, core.authorize);
    if (path !== undefined) return await resource(core, request, user, path, verb);
    if (request.path === "/metrics") return await metrics.scrape();
    for (const page of pages) {
      const answer = page(request);
      if (answer !== undefined) return answer;
    }
    return docs(request) ?? NO_PAGE;
  };
}

async function resource(
  core: Core,
  request: ServerRequest,
  user: User,
  path: ResourcePath,
  verb: string,
): Promise<ServerAnswer> {
  const { group, version, plural, name, subresource } = path;
  const found = core.registry.find(group, version, plural);
  if (found === undefined || !hasRoute(found, path, verb, request.method)) {
    if (core.registry.hasBuiltIn(group)) throw noSuchPath();
    return NO_PAGE;
  }
  const { accept } = request.headers;
  if (found.builtIn && verb === "patch") checkBodyType(request, true);
  if (found.builtIn) checkAccept(accept, verb === "list" || verb === "watch");
  if (verb !== "watch") checkTimeout(request.query);
  const form = verb === "watch" ? negotiateStream(accept) : negotiate(accept, { tables: hasTable(found, path) });
  checkBodyType(request, found.builtIn);
  const call: Call = {
    core,
    user,
    resource: found,
    namespace: namespaceOf(found, path),
    // A defined kind can be created below a name, which says nothing then.
    name: verb === "create" && subresource === "" ? "" : name,
    subresource,
    query: request.query,
    headers: request.headers,
    contentType: request.headers["content-type"] ?? "application/json",
    body: undefined,
    text: typeof request.body === "string" ? request.body : undefined,
    warnings: request.warnings ?? [],
    signal: request.signal,
  };
  readInto(call, request);
  if (found.deprecation !== undefined) call.warnings.push(found.deprecation);
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
  return { status, headers: { "content-type": form.media }, body: present(form, call, body) };
}

/** Answers to questions, tokens and evictions have no columns. */
function hasTable(resource: ServedResource, { subresource }: ResourcePath): boolean {
  return (
    resource.answer === undefined && subresource !== "token" && subresource !== "eviction" && subresource !== "binding"
  );
}

function readInto(call: Call, request: ServerRequest): void {
  try {
    const { value, duplicates } = readBody(request);
    call.body = value;
    call.duplicates = duplicates;
  } catch (error) {
    throw error instanceof Unreadable ? unreadableBody(call, error) : error;
  }
}

function namespaceOf(resource: ServedResource, path: ResourcePath): string {
  return resource.namespaced ? path.namespace : "";
}

async function carryOut(call: Call, verb: string): Promise<{ status: number; body: unknown }> {
  if (call.subresource === "scale") return { status: 200, body: await scale(call, verb) };
  if (call.resource.answer !== undefined) return { status: 201, body: await call.resource.answer(call) };
  if (call.subresource === "token") return { status: 201, body: await requestToken(call, call.core.tokens) };
  if (call.subresource === "binding") return { status: 201, body: await bind(call) };
  if (call.subresource === "eviction") return { status: 201, body: await evict(call) };
  switch (verb) {
    case "get":
      return { status: 200, body: await get(call) };
    case "list":
      return { status: 200, body: await list(call) };
    case "create":
      return { status: 201, body: await create(call) };
    case "update": {
      if (call.subresource === "finalize") return { status: 200, body: await finalize(call) };
      const { object, created } = await update(call);
      return { status: created ? 201 : 200, body: object };
    }
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
async function finalize(call: Call): Promise<unknown> {
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
  const found = await list(call);
  for (const object of found.items) {
    const { name, namespace = "" } = object.metadata;
    try {
      await removeObject({ ...call, name, namespace, ofCollection: true }, options);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "NotFound")) throw error;
    }
  }
  return found;
}
