/**
 * The embedded Kubernetes API server: what it serves behaves as kube-apiserver does for the same request.
 *
 * request → authenticate → authorize → read the body → decode → (patch) → prune, default → admission → validate → store → watchers.
 * The core is free of sockets and works in virtual time; `http/face.ts` puts it on a port, `http/direct-transport.ts` behind a `Transport`.
 * It keeps objects and looks after their life (namespaces, owners, definitions); it runs no controllers of workloads.
 */
import { type ByteLimits, type Clock, isFault, type Log, type Random } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { admissionWebhooks } from "./admission/webhooks.ts";
import { type AccessOptions, accessTo } from "./auth/access.ts";
import { openIdDocuments } from "./auth/accounts/openid.ts";
import { ANONYMOUS } from "./auth/identity.ts";
import { defaultAdmission } from "./builtin/admission.ts";
import { builtinResources } from "./builtin/resources.ts";
import { type Conversions, converterOf } from "./conversion/strategy.ts";
import type { Admission } from "./core/admission.ts";
import type { Core } from "./core/call.ts";
import { Registry } from "./core/registry.ts";
import { dispatcher } from "./dispatch/dispatch.ts";
import type { Extra } from "./dispatch/extra.ts";
import { serverMetrics } from "./dispatch/metrics.ts";
import { plainMedia } from "./dispatch/negotiate.ts";
import { checkTimeout } from "./dispatch/request-timeout.ts";
import { bodyShares } from "./http/body-share.ts";
import { directTransport } from "./http/direct-transport.ts";
import { type Listening, type ListenOptions, listen } from "./http/face.ts";
import { FairTurns } from "./http/fair-turns.ts";
import { type Check, health } from "./http/health.ts";
import { type InFlightLimits, limitInFlight } from "./http/in-flight.ts";
import { roleAggregation } from "./lifecycle/aggregated-roles.ts";
import { seedPolicy } from "./lifecycle/default-policy.ts";
import { definitionLifecycle, withDefinitionRules } from "./lifecycle/definitions.ts";
import { eventExpiry } from "./lifecycle/events.ts";
import { garbageCollector } from "./lifecycle/garbage-collector.ts";
import { namespaceLifecycle } from "./lifecycle/namespaces.ts";
import { rootCaPublisher } from "./lifecycle/root-ca.ts";
import { seed } from "./lifecycle/seed.ts";
import { defaultAccounts, provideDefaultAccount } from "./lifecycle/service-accounts.ts";
import { serviceRanges } from "./lifecycle/service-ranges.ts";
import { tokenSecrets } from "./lifecycle/token-secrets.ts";
import type { ServerAnswer, ServerRequest, User } from "./model/request.ts";
import { type Status, statusOfError } from "./model/status.ts";
import { warningHeaders } from "./model/warnings.ts";
import { openJournal } from "./storage/open-journal.ts";
import { Store } from "./storage/store.ts";
import { type WebhookHttp, webhookSockets } from "./webhook/http.ts";

export interface ApiServerOptions extends AccessOptions {
  clock: Clock;
  random: Random;
  log: Log;
  /** Unset: nothing outlives the process, and no I/O is done. */
  storage?: StorageOptions;
  /** How many changes each resource remembers at most for watches that resume; those older than 75 s are forgotten, but for the latest hundred. Default: 4096. */
  history?: number;
  /** What is seldom needed (`extras.ts`). Default: none. */
  extras?: readonly Extra[];
  /** PEM of the authority that the server's certificate comes from: published in every namespace, for the clients in its Pods. */
  authority?: string;
  admission?: readonly Admission[];
  /** Beyond these, requests are answered 429. */
  inFlight?: InFlightLimits;
  /** Bytes of bodies that are held at once. `BODY_LIMITS` unless said. */
  bodies?: ByteLimits;
  /** How admission and conversion webhooks are reached: over sockets unless said. */
  webhooks?: WebhookHttp;
  /** The Kubernetes version that `/version` reports, as `v1.30.4`, asked each time. Default: the one whose behaviour this server follows. */
  version?: () => string;
  /** Ranges of the cluster IPs of Services, one of a family or one of each, the cluster's own family first. Default: 10.96.0.0/16. */
  serviceCidrs?: readonly string[];
  /** Converters that take the place of definitions' conversion webhooks, by the definition's name. */
  conversions?: Conversions;
}

export interface StorageOptions {
  file: string;
  /** A damaged file is repaired instead of refused, and this is called with what was lost and done, a line each. */
  onRepair?: (report: string[]) => void;
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

/** Starts a server; with a storage file it goes on from what is in it. Rejects when the file can't be used (`openJournal`). */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { clock, random, log, storage, history } = options;
  const journal = storage && openJournal(storage.file, { clock, random }, storage.onRepair);
  let store: Store | undefined;
  try {
    const durability = journal && { journal, clock, log };
    store = new Store({ durability, clock, ...(history === undefined ? {} : { history }) });
    return await serverOn(store, options);
  } catch (error) {
    // Who corrects what was wrong finds the file free.
    if (store === undefined) journal?.close();
    else store.close();
    throw error;
  }
}

async function serverOn(store: Store, options: ApiServerOptions): Promise<ApiServer> {
  const { clock, random, log, extras = [] } = options;
  const access = accessTo({ store, clock, random }, options, (namespace) => provideDefaultAccount(core, namespace));
  const resources = [
    ...builtinResources({ serviceRanges: serviceRanges(store, options.serviceCidrs) }),
    ...access.questions,
    ...extras.flatMap((extra) => extra.resources ?? []),
  ];
  const registry: Registry = new Registry(resources.map((r) => (r.definesKinds ? withDefinitionRules(r) : r)));
  const http = options.webhooks ?? webhookSockets(clock);
  const core: Core = {
    clock,
    random,
    log,
    store,
    registry,
    authorize: access.authorizer.authorize,
    admission: [...(options.admission ?? []), ...access.admission, defaultAdmission(store)],
    webhooks: undefined,
    version: options.version,
    answers: access.answers,
    converterOf: (crd) => converterOf(crd, { clock, random, store, http }, options.conversions),
  };
  core.webhooks = admissionWebhooks({ ...core, http });
  const lives = [
    definitionLifecycle(core),
    namespaceLifecycle(core),
    defaultAccounts(core),
    garbageCollector(core),
    eventExpiry(core),
    roleAggregation(core),
    tokenSecrets(core, access.tokens, options.authority),
    ...(options.authority === undefined ? [] : [rootCaPublisher(core, options.authority)]),
  ];
  const metrics = serverMetrics(core);
  const ending = new AbortController();
  const checks = health(healthChecks(store, ending.signal));
  const dispatch = dispatcher(core, metrics, [checks, openIdDocuments(access.tokens)], extras);
  const faces = new Set<Listening>();
  const endLives = async (): Promise<void> => {
    for (const life of lives) await life.close();
    await http.close();
  };
  try {
    await seed(core, options.serviceCidrs);
    if (options.authorize === undefined) await seedPolicy(core);
    await core.store.durable();
  } catch (error) {
    await endLives();
    throw error;
  }

  const limited = limitInFlight<ServerAnswer>(options.inFlight ?? {});
  const withBody = bodyShares(options.bodies);
  const answer = async (request: ServerRequest): Promise<ServerAnswer> => {
    try {
      const signal = request.signal === undefined ? ending.signal : AbortSignal.any([request.signal, ending.signal]);
      checkTimeout(request);
      const requestor = access.whoAsks(request);
      if (requestor.name !== ANONYMOUS.name) request.recognized?.();
      const permitted = await dispatch.permit(request, requestor);
      return await withBody({ ...request, signal }, requestor, (whole) =>
        limited(whole, requestor, () => dispatch.answer(whole, permitted)),
      );
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
  const turns = new FairTurns(clock);
  return {
    handle,
    transport: (user = ADMIN) => directTransport(handle, user, turns),
    async listen(at) {
      const face = await listen(handle, { log, clock }, at);
      faces.add(face);
      return { ...face, close: () => (faces.delete(face) ? face.close() : Promise.resolve()) };
    },
    async close() {
      ending.abort();
      await Promise.all([...faces].map((face) => face.close()));
      await endLives();
      store.close();
    },
  };
}

/** What has to happen here, too, between upstream's start and its first answer. A server that answers has done all of it. */
const STARTED = [
  "start-apiextensions-controllers",
  "crd-informer-synced",
  "start-system-namespaces-controller",
  "storage-readiness",
  "rbac/bootstrap-roles",
  "bootstrap-controller",
];

/** Upstream's checks, by its names and in its order, as far as there is something to check here. `etcd` is whatever objects are kept in. */
function healthChecks(store: Store, ending: AbortSignal): Check[] {
  const fine = (name: string): Check => ({ name, fault: () => undefined });
  const storage = () => store.broken;
  return [
    fine("ping"),
    fine("log"),
    { name: "etcd", fault: storage },
    { name: "etcd-readiness", only: "readyz", fault: storage },
    { ...fine("informer-sync"), only: "readyz" },
    ...STARTED.map((name) => fine(`poststarthook/${name}`)),
    {
      name: "shutdown",
      only: "readyz",
      fault: () => (ending.aborted ? new Error("process is shutting down") : undefined),
    },
  ];
}

function refused(request: ServerRequest, status: Status, error: unknown, log: Log): ServerAnswer {
  if (status.code >= 500 && status.reason === "InternalError" && !isFault(error))
    log.error({ error }, "a request met a defect");
  const seconds = status.details?.retryAfterSeconds;
  const retry = seconds === undefined ? {} : { "retry-after": String(seconds) };
  const media = plainMedia(request.headers.accept) ?? "application/json";
  return { status: status.code, headers: { "content-type": media, ...retry }, body: status };
}
