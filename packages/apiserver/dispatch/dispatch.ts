import { noImpersonation } from "../auth/impersonation-headers.ts";
import { checkBodyType } from "../body/body-type.ts";
import { Unreadable } from "../body/head.ts";
import { readBody } from "../body/request-body.ts";
import { attributesOf } from "../core/attributes.ts";
import type { Answer, Call, Core } from "../core/call.ts";
import { permit } from "../core/denial.ts";
import { letOthersGo, noteSize, partsInTurns } from "../json/turns.ts";
import { copyJson, isRecord } from "../json/value.ts";
import { parseResourcePath, type ResourcePath } from "../model/path.ts";
import type { ServerAnswer, ServerRequest, User } from "../model/request.ts";
import { type ServedResource, servedKey } from "../model/served.ts";
import { methodNotAllowed, noSuchPath } from "../model/status.ts";
import { bind } from "../verbs/binding.ts";
import { create } from "../verbs/create.ts";
import { unreadableBody } from "../verbs/custom-object.ts";
import { remove, removeObject } from "../verbs/delete.ts";
import { deleteOptions } from "../verbs/delete-options.ts";
import { evict } from "../verbs/eviction.ts";
import { get, list, type ObjectList } from "../verbs/list.ts";
import { decodeObject } from "../verbs/object.ts";
import { patch } from "../verbs/patch.ts";
import { scale } from "../verbs/scale.ts";
import { rewrite, update } from "../verbs/update.ts";
import { watch } from "../verbs/watch.ts";
import { documents, NO_PAGE } from "./documents.ts";
import type { Extra } from "./extra.ts";
import type { ServerMetrics } from "./metrics.ts";
import { checkAccept, negotiate, negotiateStream } from "./negotiate.ts";
import { presentEvents, presentInTurns } from "./present.ts";
import { hasRoute, verbOf } from "./route.ts";

/** A request that may be carried out. */
export interface Permitted {
  /** Whoever is acted as. */
  user: User;
  /** Undefined: the path names no resource. */
  path: ResourcePath | undefined;
  verb: string;
}

interface PermittedResource extends Permitted {
  path: ResourcePath;
}

export interface Dispatcher {
  /** Decides whether the user may do what the request's head says. Throws Forbidden, and BadRequest for a head that can't be read. */
  permit(request: ServerRequest, requestor: User): Promise<Permitted>;
  /** Carries out a permitted request. Refusals are thrown. */
  answer(request: ServerRequest, permitted: Permitted): Promise<ServerAnswer>;
}

/** What stands behind the paths: resources by their verbs, metrics, pages and documents. */
export function dispatcher(
  core: Core,
  metrics: ServerMetrics,
  pages: readonly ((request: ServerRequest) => ServerAnswer | undefined)[],
  extras: readonly Extra[],
): Dispatcher {
  const docs = documents(core, extras.find(({ openApiV2Protobuf }) => openApiV2Protobuf)?.openApiV2Protobuf);
  const impersonating = extras.find(({ impersonation }) => impersonation);
  const impersonate = impersonating?.impersonation?.(core.authorize) ?? noImpersonation;
  return {
    async permit(request, requestor) {
      const path = parseResourcePath(request.path);
      const verb = path === undefined ? "" : verbOf(request, path);
      const asked = attributesOf(request, requestor, path, verb);
      const user = await impersonate(asked, request.headers);
      await permit({ ...asked, user }, core.authorize);
      return { user, path, verb };
    },
    async answer(request, { user, path, verb }) {
      if (path !== undefined) return await resource(core, request, { user, path, verb });
      if (request.path === "/metrics") return await metrics.scrape();
      for (const page of pages) {
        const answer = page(request);
        if (answer !== undefined) return answer;
      }
      return docs(request) ?? NO_PAGE;
    },
  };
}

async function resource(core: Core, request: ServerRequest, permitted: PermittedResource): Promise<ServerAnswer> {
  const { user, path, verb } = permitted;
  const { group, version, plural, name, subresource } = path;
  const found = core.registry.find(group, version, plural);
  if (found === undefined || !hasRoute(found, path, verb, request.method)) {
    if (core.registry.hasBuiltIn(group)) throw noSuchPath();
    return NO_PAGE;
  }
  const { accept } = request.headers;
  if (found.builtIn && verb === "patch") checkBodyType(request, true);
  if (found.builtIn) checkAccept(accept, verb === "list" || verb === "watch");
  const form = verb === "watch" ? negotiateStream(accept) : negotiate(accept, { tables: hasTable(found, path) });
  checkBodyType(request, found.builtIn);
  const unkept = new Set<Promise<void>>();
  const call: Call = {
    core,
    unkept,
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
  await readInto(call, request);
  noteSize(call, call.body);
  await letOthersGo(call);
  // What is read must be as durable as what was acknowledged.
  await core.store.settled();
  // The definition may have changed meanwhile.
  if (!core.registry.isServed(found)) return await resource(core, request, permitted);
  if (!found.builtIn && core.registry.compiled(found).isLarge) {
    call.isLong = true;
    await letOthersGo(call);
  }
  if (found.deprecation !== undefined) call.warnings.push(found.deprecation);
  if (verb === "watch") {
    const events = watch(call);
    return {
      status: 200,
      headers: { "content-type": "application/json" },
      stream: form.as === "object" ? events : presentEvents(form, call, events),
    };
  }
  const { status, body } = await (READS.has(verb) ? readDurably(call, verb) : carryOut(call, verb));
  if (unkept.size > 0) await Promise.all(unkept);
  await core.store.durable();
  await letOthersGo(call);
  return { status, headers: { "content-type": form.media }, body: await presentInTurns(form, call, body) };
}

const READS: ReadonlySet<string> = new Set(["get", "list"]);

/** Reads again when writes of others were among what was read and then could not be kept. */
async function readDurably(call: Call, verb: string): ReturnType<typeof carryOut> {
  for (;;) {
    const answering = carryOut(call, verb);
    // What is read is read at once; a large answer is then made in several turns.
    const isRead = isKept(call.core);
    const answer = await answering;
    if ((await isRead) && (await isKept(call.core))) return answer;
  }
}

/** Whether what was written so far could be kept. */
async function isKept({ store }: Core): Promise<boolean> {
  return (
    (await store.durable()?.then(
      () => true,
      () => false,
    )) ?? true
  );
}

/** Answers to questions, tokens and evictions have no columns. */
function hasTable(resource: ServedResource, { subresource }: ResourcePath): boolean {
  return (
    resource.isQuestion !== true && subresource !== "token" && subresource !== "eviction" && subresource !== "binding"
  );
}

async function readInto(call: Call, request: ServerRequest): Promise<void> {
  try {
    const { value, duplicates } = await readBody(request);
    call.body = value;
    call.duplicates = duplicates;
  } catch (error) {
    throw error instanceof Unreadable ? unreadableBody(call, error) : error;
  }
}

function namespaceOf(resource: ServedResource, path: ResourcePath): string {
  return resource.namespaced ? path.namespace : "";
}

function answerOf({ core, resource: { group, version, plural }, subresource }: Call): Answer | undefined {
  const key = servedKey(group, version, plural);
  return core.answers.get(subresource === "" ? key : `${key}/${subresource}`);
}

async function carryOut(call: Call, verb: string): Promise<{ status: number; body: unknown }> {
  if (call.subresource === "scale") return { status: 200, body: await scale(call, verb) };
  const answer = answerOf(call);
  if (answer !== undefined) return { status: 201, body: await answer(call) };
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

/** How many objects of a collection are deleted before others have their turn. */
const REMOVED_AT_ONCE = 250;

async function removeAll(call: Call): Promise<ObjectList> {
  const options = deleteOptions(call);
  const found = await list(call);
  for await (const part of partsInTurns(found.items, REMOVED_AT_ONCE))
    for (const { metadata } of part) {
      const { name, namespace = "" } = metadata;
      try {
        await removeObject({ ...call, name, namespace, ofCollection: true }, options);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "NotFound")) throw error;
      }
    }
  return found;
}
