import { deadline, Fault } from "@slipway/base";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { clearSession, cookieOf, SESSION_COOKIE, setSession } from "./cookies.ts";
import { type Credentials, ofKubeconfig, ofToken } from "./credentials.ts";
import type { Desk } from "./ports.ts";
import { isCsrfOf, type Session } from "./session.ts";
import { whoIs } from "./who.ts";

const LONGEST_BODY = 256 * 1024;
/** Sign-ins on their way to the API, of everybody. */
const MOST_SIGNING_IN = 16;

/** The session of the request. Throws `Unauthorized` when there is none any more. */
export function sessionOf({ sessions }: Desk, request: FastifyRequest): Session {
  const session = sessions.find(cookieOf(request, SESSION_COOKIE));
  if (session === undefined) throw new Fault("Unauthorized", "console", "nobody is signed in", { remedy: "sign in" });
  return session;
}

/** Throws `Refused` where the request does not bring its session's own token. */
export function requireCsrf(session: Session, request: FastifyRequest): void {
  if (!isCsrfOf(session, request.headers["x-slipway-csrf"]))
    throw new Fault("Refused", "console", "the request lacks the session's x-slipway-csrf", {
      remedy: "load the page anew",
    });
}

/** Who is signed in, signing in by a token or a kubeconfig, and signing out. */
export function sessionRoutes(app: FastifyInstance, desk: Desk): void {
  let signingIn = 0;

  app.get("/console/session", async (request, reply) => {
    const session = desk.sessions.find(cookieOf(request, SESSION_COOKIE));
    if (session === undefined) return reply.code(401).send({ message: "nobody is signed in", ...offers(desk) });
    return described(desk, session);
  });

  app.post("/console/session", { bodyLimit: LONGEST_BODY }, async (request, reply) => {
    if (signingIn >= MOST_SIGNING_IN)
      throw new Fault("Throttled", "console", "many sign in at this moment", { remedy: "try again" });
    signingIn++;
    try {
      const { credentials, by } = await credentialsIn(request.body, desk);
      return described(desk, await signIn(desk, { credentials, by }, request, reply));
    } finally {
      signingIn--;
    }
  });

  app.delete("/console/session", async (request, reply) => {
    const session = sessionOf(desk, request);
    requireCsrf(session, request);
    desk.sessions.end(session);
    clearSession(request, reply, desk.reach);
    return reply.code(204).send();
  });
}

/** Asks the API who this is, and begins a session under a new id; the browser's session from before ends. */
export async function signIn(
  desk: Desk,
  { credentials, by }: { credentials: Credentials; by: "token" | "kubeconfig" | "oidc" },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Session> {
  const transport = desk.transport(credentials);
  try {
    const who = await whoIs(transport, (ms) => deadline(desk.clock, ms));
    const before = desk.sessions.find(cookieOf(request, SESSION_COOKIE));
    if (before !== undefined) desk.sessions.end(before);
    const { id, session } = desk.sessions.begin(who, transport, credentials.endsAt);
    setSession(request, reply, desk.reach, id);
    desk.log.info({ user: who.user, by }, "signed in to the console");
    return session;
  } catch (error) {
    transport.close().catch(() => {});
    desk.log.warn({ by, code: error instanceof Fault ? error.code : "Internal" }, "a sign-in to the console failed");
    throw error;
  }
}

async function credentialsIn(
  body: unknown,
  { clock }: Desk,
): Promise<{ credentials: Credentials; by: "token" | "kubeconfig" }> {
  const { token, kubeconfig } = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  if (typeof token === "string" && kubeconfig === undefined) return { credentials: ofToken(token), by: "token" };
  if (typeof kubeconfig === "string" && token === undefined)
    return { credentials: await ofKubeconfig(kubeconfig, clock), by: "kubeconfig" };
  throw new Fault("BadRequest", "console", "give a token or a kubeconfig, as text");
}

const offers = ({ oidc }: Desk) => ({ signIn: { token: true, oidc: oidc !== undefined } });

const described = (desk: Desk, { user, groups, csrf }: Session) => ({
  ...{ user, groups, csrf, ...offers(desk) },
  features: { serial: desk.outputs?.serial !== undefined, logs: desk.outputs?.logs !== undefined },
});
