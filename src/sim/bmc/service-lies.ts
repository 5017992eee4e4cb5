import { Fault, plain } from "@slipway/base";
import { errorAnswer, message, refuse } from "../../bmc-service/messages.ts";
import { type Lie, pathOf, rewritten, SYSTEM } from "./lie.ts";

const SESSIONS = "/redfish/v1/SessionService/Sessions";
const SLOW_MS = 20_000;
const SLOWER_MS = 90_000;

/** An answer that takes so long; a client that does not wait for it has lost it, and its effect happens all the same. */
function slowBy(ms: number): Lie {
  return async (request, next, { clock }) => {
    const limit = Math.min(ms, request.timeoutMs ?? ms);
    try {
      await clock.sleep(limit, request.signal);
    } catch {
      throw new Fault("LostAnswer", new URL(request.url).host, "the caller gave up");
    }
    if (limit === ms) return await next(request);
    await next(request);
    throw new Fault("LostAnswer", new URL(request.url).host, `no answer within ${limit} ms`);
  };
}

/** What BMCs do with requests, sessions, ETags and redirects, whatever is asked. */
export const SERVICE_LIES = {
  /** Too busy for everything. */
  busy: async () => ({ ...refuse(503, "ServiceTemporarilyUnavailable", "5"), headers: { "retry-after": "5" } }),

  /** Too busy for two of every five requests. */
  "often-busy": async (request, next, { count }) =>
    count % 5 < 2
      ? { ...refuse(503, "ServiceTemporarilyUnavailable", "2"), headers: { "retry-after": "2" } }
      : await next(request),

  slow: slowBy(SLOW_MS),
  "too-slow": slowBy(SLOWER_MS),

  /** Every sixth connection ends before the request was read. */
  "drops-requests": async (request, next, { random }) => {
    if (random.int(6) === 0) throw new Fault("LostAnswer", pathOf(request), "the connection was reset");
    return await next(request);
  },

  /** The connection ends after every write. */
  "drops-answers": async (request, next) => {
    const answer = await next(request);
    if (request.method === "GET" || pathOf(request) === SESSIONS) return answer;
    throw new Fault("LostAnswer", pathOf(request), "the connection was reset");
  },

  /** Others hold all sessions. */
  "session-table-full": async (request, next) =>
    request.method === "POST" && pathOf(request) === SESSIONS
      ? refuse(503, "CreateLimitReachedForResource")
      : await next(request),

  /** The BMC restarts often, and with it its sessions end. */
  "forgets-sessions": async (request, next, { count, endSessions }) => {
    if (count % 7 === 0) endSessions();
    return await next(request);
  },

  /** An old service, which takes name and password only. */
  "no-sessions": async (request, next) => {
    if (pathOf(request).startsWith("/redfish/v1/SessionService")) return refuse(404, "ResourceMissingAtURI", SESSIONS);
    const answer = await next(request);
    if (pathOf(request) !== "/redfish/v1/") return answer;
    return rewritten(answer, (root) => {
      delete root.SessionService;
      delete root.Links;
    });
  },

  /** No ETag is ever met: each answer has a new one. */
  "etag-always-changes": async (request, next, { random }) => {
    if (request.headers?.["if-match"] !== undefined) return refuse(412, "PreconditionFailed");
    const answer = await next(request);
    return { ...answer, headers: { ...answer.headers, etag: `W/"${Buffer.from(random.bytes(8)).toString("hex")}"` } };
  },

  /** It shows weak ETags, and compares them with the strong ones it has. */
  "etag-weak": async (request, next) => {
    const answer = await next(request);
    const { etag, ...headers } = answer.headers;
    return etag === undefined ? answer : { ...answer, headers: { ...headers, etag: `W/${etag}` } };
  },

  /** No change without If-Match, and no ETag that could be sent. */
  "etag-demanded": async (request, next) => {
    if (request.method === "PATCH" && request.headers?.["if-match"] === undefined)
      return errorAnswer(428, [message("PreconditionFailed")]);
    const answer = await next(request);
    const { etag: _, ...headers } = answer.headers;
    return { ...rewritten(answer, (body) => void delete body["@odata.etag"]), headers };
  },

  /** Paths end in a slash, and others are redirected there. */
  "redirects-to-slash": async (request, next) => {
    if (!SYSTEM.test(pathOf(request))) return await next(request);
    return plain(308, "", { location: `${pathOf(request)}/` });
  },

  /** Everything is somewhere else now. */
  "redirects-away": async (request) => plain(308, "", { location: `https://elsewhere.example${pathOf(request)}` }),

  /** A page for people in place of JSON. */
  "answers-html": async (request, next) =>
    SYSTEM.test(pathOf(request))
      ? plain(200, "<html>updating</html>", { "content-type": "text/html" })
      : await next(request),
} satisfies Record<string, Lie>;
