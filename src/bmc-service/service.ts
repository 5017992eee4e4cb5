/**
 * Slipway's own Redfish service, for machines without a management controller: one function from request to answer. It opens no socket
 * and ends no TLS; whoever serves it does (`serveHttp`), with a certificate, and answers only HTTPS unless told otherwise.
 *
 * Promises what DSP0266 asks of a service, as far as its protocol validator looks: sessions with a time and a limit, basic
 * authentication, ETags, tasks for what takes time, error answers of the Base registry. It must not know what a machine is made of.
 */
import {
  type Clock,
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  type Log,
  quietLog,
  type Random,
} from "@slipway/base";
import type { Account } from "./accounts.ts";
import { nothing } from "./answer.ts";
import { authenticate, unauthorized } from "./authenticate.ts";
import { Guesses } from "./guesses.ts";
import type { ManagedMachine } from "./machine.ts";
import { errorAnswer, message, refuse } from "./messages.ts";
import { type Method, type Route, routesOf } from "./routes.ts";
import { Sessions } from "./sessions.ts";
import { Tasks } from "./tasks.ts";

export interface RedfishServiceOptions {
  /** Machines that there are now, in the order in which they are listed. */
  machines(): readonly ManagedMachine[];
  /** Accounts that count now. */
  accounts(): readonly Account[];
  clock: Clock;
  random: Random;
  /** Of the service; the same at every start. */
  uuid: string;
  /** Default: 30 minutes. */
  sessionTimeoutMs?: number;
  /** Sessions at one time. Default: 64. */
  mostSessions?: number;
  /** How long a client waits for an effect before it gets a task. Default: 1 second. */
  patienceMs?: number;
  /** Answers requests without TLS as well. Only for what never leaves the machine. */
  plainHttp?: boolean;
  log?: Log;
}

export interface RedfishService {
  handle: HttpHandler;
  readonly sessions: Sessions;
}

type Request = Parameters<HttpHandler>[0];

const MINUTE_MS = 60_000;
const LONGEST_PATH = 1_024;

/**
 * A Redfish service over the given machines. Nothing listens: `handle` answers requests. Sessions end after 30
 * minutes without a request unless another time is given.
 */
export function redfishService(options: RedfishServiceOptions): RedfishService {
  const { clock, random, uuid, machines, accounts, log = quietLog } = options;
  const timeoutMs = options.sessionTimeoutMs ?? 30 * MINUTE_MS;
  const sessions = new Sessions({ clock, random, timeoutMs, most: options.mostSessions ?? 64 });
  const tasks = new Tasks(clock, options.patienceMs ?? 1_000);
  const routes = Object.entries(routesOf({ uuid, machines, accounts, sessions, tasks })).map(
    ([pattern, route]) => [pattern.split("/"), route] as const,
  );

  const find = (path: string): { route: Route; names: string[] } | undefined => {
    const parts = path.split("/");
    for (const [pattern, route] of routes) {
      if (pattern.length !== parts.length || !pattern.every((part, i) => part === ":" || part === parts[i])) continue;
      return { route, names: parts.filter((_, i) => pattern[i] === ":") };
    }
    return undefined;
  };

  const answer = async (request: Request): Promise<HttpAnswer> => {
    const url = new URL(request.url);
    if (url.protocol !== "https:" && options.plainHttp !== true) return refuse(403, "InsufficientPrivilege");
    const found = url.pathname.length > LONGEST_PATH ? undefined : find(url.pathname.replace(/(?<=.)\/$/, ""));
    const method = request.method === "HEAD" ? "GET" : request.method;
    const account = authenticate(request.headers, sessions, accounts());
    if (account === undefined && !found?.route.open?.includes(method as Method)) return unauthorized();
    if (found === undefined) return refuse(404, "ResourceMissingAtURI", url.pathname);
    const allow = allowedOf(found.route);
    if (!isMethod(found.route, method)) return errorAnswer(405, [message("OperationNotAllowed")], { allow });
    const result = unanswerable(request, url) ?? (await carryOut(found, method, request, account));
    return { ...result, headers: { ...result.headers, allow } };
  };

  const guesses = new Guesses(clock);
  /** Who guesses passwords waits, before one is compared. */
  const guarded = async (request: Request): Promise<HttpAnswer> => {
    const heldS = Math.ceil(guesses.heldMs(request.remote) / 1000);
    if (heldS > 0 && showsPassword(request)) {
      const busy = [message("ServiceTemporarilyUnavailable", String(heldS))];
      return errorAnswer(503, busy, { "retry-after": String(heldS) });
    }
    const result = await answer(request);
    if (result.status === 401 && showsPassword(request)) guesses.wrong(request.remote);
    return result;
  };

  return {
    sessions,
    async handle(request) {
      try {
        return await guarded(request);
      } catch (error) {
        log.error({ error: String(error) }, "a Redfish request was not served");
        return refuse(500, "InternalError");
      }
    },
  };
}

/** A request with a name and a password. A token that has ended is no guess. */
function showsPassword({ headers = {}, method }: Request): boolean {
  return headers.authorization !== undefined || (method === "POST" && headers["x-auth-token"] === undefined);
}

/** What no resource of the service answers. */
function unanswerable({ headers = {} }: HttpRequest, url: URL): HttpAnswer | undefined {
  const version = headers["odata-version"];
  if (version !== undefined && version !== "4.0") return refuse(412, "PreconditionFailed");
  const hasQuery = [...url.searchParams.keys()].some((name) => name.startsWith("$"));
  return hasQuery ? refuse(501, "QueryNotSupported") : undefined;
}

async function carryOut(
  { route, names }: { route: Route; names: readonly string[] },
  method: Method,
  request: HttpRequest,
  account: Account | undefined,
): Promise<HttpAnswer> {
  const headers = request.headers ?? {};
  const missing = refuse(404, "ResourceMissingAtURI", new URL(request.url).pathname);
  const asked = { names, account, body: {} };
  if (method === "GET") {
    const shown = route.GET!(asked) ?? missing;
    const isKnown = shown.headers.etag !== undefined && headers["if-none-match"] === shown.headers.etag;
    return isKnown ? nothing(304, { etag: shown.headers.etag! }) : shown;
  }
  if (method === "DELETE") return route.DELETE!(asked) ?? missing;
  const body = bodyOf(request);
  if (body === undefined) return refuse(400, "MalformedJSON");
  const etag = method === "PATCH" ? route.GET?.(asked)?.headers.etag : undefined;
  const wanted = headers["if-match"];
  if (etag !== undefined && wanted !== undefined && wanted !== "*" && wanted !== etag)
    return refuse(412, "PreconditionFailed");
  return (await route[method]!({ ...asked, body })) ?? missing;
}

function isMethod(route: Route, method: string): method is Method {
  return (
    (method === "GET" || method === "POST" || method === "PATCH" || method === "DELETE") && route[method] !== undefined
  );
}

function allowedOf(route: Route): string {
  const methods = (["GET", "POST", "PATCH", "DELETE"] as const).filter((method) => route[method] !== undefined);
  return methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
}

/** The JSON object that was sent; an action may have none. Undefined: it is something else. */
function bodyOf({ body = "", method }: HttpRequest): Readonly<Record<string, unknown>> | undefined {
  if (body === "" && method === "POST") return {};
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
