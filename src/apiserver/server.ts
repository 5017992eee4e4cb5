/**
 * The embedded Kubernetes API server: what it serves behaves as kube-apiserver does for the same request.
 *
 * request → authenticate → authorize → decode → (patch) → prune, default → admission → validate → store → watchers.
 * The core is free of sockets and works in virtual time; `http-face.ts` puts it on a port, `direct-transport.ts` behind a `Transport`.
 * It keeps objects and looks after their life (namespaces, owners, definitions); it runs no controllers of workloads.
 */
import type { Clock } from "../base/clock.ts";
import { isFault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Transport } from "../kube/transport.ts";
import { admissionWebhooks } from "./admission/webhooks.ts";
import { type Authenticator, bootstrapTokens, staticTokens, whoAsks } from "./auth/authenticate.ts";
import { type Authorize, type Authorizer, mastersOr } from "./auth/authorize.ts";
import { rbac } from "./auth/rbac/authorizer.ts";
import { noEscalation } from "./auth/rbac/escalation.ts";
import { reviewResources } from "./auth/reviews.ts";
import { builtinResources } from "./builtin/resources.ts";
import type { Admission, Core } from "./core.ts";
import { directTransport } from "./direct-transport.ts";
import { dispatcher } from "./dispatch.ts";
import { type Listening, type ListenOptions, listen } from "./http-face.ts";
import { roleAggregation } from "./lifecycle/aggregated-roles.ts";
import { clusterIps } from "./lifecycle/cluster-ips.ts";
import { seedPolicy } from "./lifecycle/default-policy.ts";
import { definitionLifecycle, withDefinitionRules } from "./lifecycle/definitions.ts";
import { eventExpiry } from "./lifecycle/events.ts";
import { garbageCollector } from "./lifecycle/garbage-collector.ts";
import { namespaceLifecycle } from "./lifecycle/namespaces.ts";
import { seed } from "./lifecycle/seed.ts";
import { defaultAccounts } from "./lifecycle/service-accounts.ts";
import { serverMetrics } from "./metrics.ts";
import { plainMedia } from "./negotiate.ts";
import { Registry } from "./registry.ts";
import type { ServerAnswer, ServerRequest, User } from "./request.ts";
import type { ServedResource } from "./served.ts";
import { type Status, statusOfError } from "./status.ts";
import { openJournal } from "./storage/journal.ts";
import { Store } from "./storage/store.ts";
import { warningHeaders } from "./warnings.ts";
import { type WebhookHttp, webhookSockets } from "./webhook/http.ts";

export interface ApiServerOptions {
  clock: Clock;
  random: Random;
  log: Log;
  /** Unset: nothing outlives the process, and no I/O is done. */
  storage?: { file: string };
  /** How many changes each resource remembers for watches that resume. 4096 unless said. */
  history?: number;
  /** Served besides the built-in resources. */
  extraResources?: readonly ServedResource[];
  /** Bearer tokens and whose they are. Bootstrap tokens (Secrets in kube-system) are known anyway. */
  tokens?: Readonly<Record<string, User>>;
  authenticators?: readonly Authenticator[];
  /** Asked about everybody outside `system:masters`. The Roles and bindings in the store decide unless said. */
  authorize?: Authorize;
  admission?: readonly Admission[];
  /** How admission and conversion webhooks are reached: over sockets unless said. */
  webhooks?: WebhookHttp;
}

export interface ApiServer {
  /** Answers any request; never rejects. */
  handle(request: ServerRequest): Promise<ServerAnswer>;
  /** A way in without sockets. `system:masters` unless a user is given. */
  transport(user?: User): Transport;
  /** Serves on a port (HTTPS when `tls` is given). Several may listen at once. */
  listen(options: ListenOptions): Promise<Listening>;
  /** Ends watches and ports and flushes what is not yet on the disk. */
  close(): Promise<void>;
}

export const ADMIN: User = { name: "system:admin", groups: ["system:masters", "system:authenticated"] };

/** Starts a server; with a storage file it goes on from what is in it. Rejects when the file can't be used. */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { clock, random, log } = options;
  const journal = options.storage === undefined ? undefined : openJournal(options.storage.file);
  const store = new Store({ journal, ...(options.history === undefined ? {} : { history: options.history }) });
  const resources = [
    ...builtinResources({ allocateClusterIp: clusterIps(store) }),
    ...reviewResources(),
    ...(options.extraResources ?? []),
  ];
  const registry: Registry = new Registry(
    resources.map((r) => (r.plural === "customresourcedefinitions" ? withDefinitionRules(r, () => registry) : r)),
  );
  const authorizer = authorizerOf(options, store);
  const core: Core = {
    clock,
    random,
    log,
    store,
    registry,
    authorize: authorizer.authorize,
    admission: [...(options.admission ?? []), noEscalation(store, authorizer)],
    webhooks: undefined,
  };
  const http = options.webhooks ?? webhookSockets(clock);
  core.webhooks = admissionWebhooks({ ...core, http });
  const lives = [
    definitionLifecycle(core),
    namespaceLifecycle(core),
    defaultAccounts(core),
    garbageCollector(core),
    eventExpiry(core),
    roleAggregation(core),
  ];
  const authenticators = [
    staticTokens(options.tokens ?? {}),
    bootstrapTokens(store, clock),
    ...(options.authenticators ?? []),
  ];
  const metrics = serverMetrics(core);
  const dispatch = dispatcher(core, metrics);
  const ending = new AbortController();
  const faces = new Set<Listening>();
  await seed(core);
  if (options.authorize === undefined) await seedPolicy(core);
  await core.store.durable();

  const answer = async (request: ServerRequest): Promise<ServerAnswer> => {
    try {
      const signal = request.signal === undefined ? ending.signal : AbortSignal.any([request.signal, ending.signal]);
      return await dispatch({ ...request, signal }, whoAsks(request, authenticators));
    } catch (error) {
      return refused(request, statusOfError(error), error, log);
    }
  };
  const handle = async (request: ServerRequest): Promise<ServerAnswer> => {
    const warnings: string[] = [];
    const given = await answer({ ...request, warnings });
    metrics.answered(request, given.status);
    return warnings.length === 0 ? given : { ...given, headers: { ...given.headers, ...warningHeaders(warnings) } };
  };
  return {
    handle,
    transport: (user = ADMIN) => directTransport(handle, user),
    async listen(at) {
      const face = await listen(handle, log, at);
      faces.add(face);
      return { ...face, close: () => (faces.delete(face) ? face.close() : Promise.resolve()) };
    },
    async close() {
      ending.abort();
      await Promise.all([...faces].map((face) => face.close()));
      for (const life of lives) await life.close();
      await http.close();
      store.close();
    },
  };
}

/** Who decides: the stored roles, or whoever the options name, whose rules nobody knows. */
function authorizerOf(options: ApiServerOptions, store: Store): Authorizer {
  const { authorize, rulesFor } =
    options.authorize === undefined
      ? rbac(store)
      : { authorize: options.authorize, rulesFor: () => ({ rules: [], incomplete: true }) };
  return { authorize: mastersOr(authorize), rulesFor };
}

function refused(request: ServerRequest, status: Status, error: unknown, log: Log): ServerAnswer {
  if (status.code >= 500 && status.reason === "InternalError" && !isFault(error))
    log.error({ error }, "a request met a defect");
  const seconds = status.details?.retryAfterSeconds;
  const retry = seconds === undefined ? {} : { "retry-after": String(seconds) };
  const media = plainMedia(request.headers.accept) ?? "application/json";
  return { status: status.code, headers: { "content-type": media, ...retry }, body: status };
}
