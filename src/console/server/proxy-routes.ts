import { deadline, Fault } from "@slipway/base";
import type { ApiAnswer, ApiRequest } from "@slipway/kube";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { apiTarget } from "./api-path.ts";
import { clearSession } from "./cookies.ts";
import type { Desk } from "./ports.ts";
import { requireCsrf, sessionOf } from "./session-routes.ts";

const PREFIX = "/console/k8s";
/** As kube-apiserver's own limit. */
const LONGEST_BODY = 3 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
/** Of one session, on their way at one time. */
const MOST_IN_FLIGHT = 24;

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
const BODY_TYPES = new Set([
  ...["application/json", "application/json-patch+json", "application/merge-patch+json"],
  ...["application/strategic-merge-patch+json", "application/apply-patch+yaml"],
]);

/**
 * Sends requests on to the Kubernetes API with the user's own credentials. Of the browser's headers only the body's type goes
 * along, so neither impersonation nor anything about the connection can be slipped in; of the answer status, body and Retry-After come back.
 */
export function proxyRoutes(app: FastifyInstance, desk: Desk): void {
  app.route({
    method: [...METHODS],
    url: `${PREFIX}/*`,
    bodyLimit: LONGEST_BODY,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const session = sessionOf(desk, request);
      if (request.method !== "GET") requireCsrf(session, request);
      const target = apiTarget((request.raw.url ?? "").slice(PREFIX.length));
      if (session.inFlight >= MOST_IN_FLIGHT)
        throw new Fault("Throttled", "console", `more than ${MOST_IN_FLIGHT} requests at once`, {
          remedy: "try again",
        });
      session.inFlight++;
      const { signal, done } = deadline(desk.clock, TIMEOUT_MS, session.ended);
      try {
        const { status, body, headers } = await session.transport.request({
          ...{ method: request.method as ApiRequest["method"], ...target, signal },
          ...bodyOf(request),
        });
        if (status === 401) {
          desk.sessions.end(session);
          clearSession(request, reply, desk.reach);
        }
        return passOn({ status, body, headers }, reply);
      } finally {
        session.inFlight--;
        done();
      }
    },
  });
}

/** What of the API's answer the browser gets. Never a type that a browser would show as a page. */
function passOn({ status, body, headers }: ApiAnswer, reply: FastifyReply): FastifyReply {
  const wait = headers["retry-after"];
  if (wait !== undefined && /^\d{1,6}$/.test(wait)) reply.header("retry-after", wait);
  const isText = typeof body === "string";
  reply.code(status).type(isText ? "text/plain; charset=utf-8" : "application/json; charset=utf-8");
  return reply.send(isText ? body : JSON.stringify(body ?? null));
}

function bodyOf({ body, headers }: FastifyRequest): Pick<ApiRequest, "body" | "contentType"> {
  if (body === undefined || body === null) return {};
  const [type = ""] = (headers["content-type"] ?? "").split(";");
  return { body, contentType: type.trim().toLowerCase() };
}

/** Bodies are JSON, whatever of its types they are; other types are answered 415. */
export function jsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser([...BODY_TYPES], { parseAs: "string" }, (_, text, done) => {
    if (text === "") return done(null, undefined);
    try {
      done(null, JSON.parse(text as string));
    } catch {
      done(new Fault("BadRequest", "console", "the body is not JSON"));
    }
  });
}
