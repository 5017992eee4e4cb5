import { Fault, type HttpAnswer, isFault } from "@slipway/base";
import type { BmcCredentials } from "../bmc.ts";
import { at, linkAt, textAt } from "./body.ts";
import { BUSY, messagesOf, refusal, refusedCredentials } from "./refusal.ts";

export const ROOT = "/redfish/v1/";
const TRIES = 2;
const SESSIONS = "/redfish/v1/SessionService/Sessions";

/** What a request shows the BMC. */
export interface Login {
  headers: Readonly<Record<string, string>>;
  /** The session that ends by a DELETE; undefined: basic authentication. */
  session?: string;
}

export interface LoginRequest {
  method: "GET" | "POST" | "DELETE";
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

export interface LoginCall {
  origin: string;
  credentials: BmcCredentials;
  send(request: LoginRequest): Promise<HttpAnswer>;
  /** The path of a link; throws for one to another server. */
  pathOf(link: string): string;
  /** The same of what the BMC made for us, by whatever name it calls itself. */
  ownPathOf(link: string): string;
}

/**
 * Opens a session (DSP0266, session login), or turns to basic authentication where the BMC has none, or no more of them. Rejects with
 * `BadCredentials`, or `Unavailable`: a lost answer included, for a session that nobody uses ends by itself.
 */
export async function logIn(call: LoginCall): Promise<Login> {
  const send: LoginCall["send"] = async (request) => {
    for (let tries = 1; ; tries++) {
      try {
        return await call.send(request);
      } catch (error) {
        if (!isFault(error, "LostAnswer")) throw error;
        if (tries === TRIES)
          throw new Fault("Unavailable", call.origin, "the answer to the login did not come", { cause: error });
      }
    }
  };
  return await attempt({ ...call, send });
}

async function attempt({ origin, credentials, send, pathOf, ownPathOf }: LoginCall): Promise<Login> {
  const root = await send({ method: "GET", path: ROOT, headers: {} });
  if (BUSY.has(root.status) || root.status === 404) throw refusal(origin, `GET ${ROOT}`, root);
  const sessions = sessionsIn(root);
  if (sessions === undefined) return basic(credentials);
  const body = JSON.stringify({ UserName: credentials.username, Password: credentials.password });
  const answer = await send({ method: "POST", path: pathOf(sessions), headers: {}, body });
  const token = answer.headers["x-auth-token"];
  if (answer.status < 300 && token !== undefined) {
    const session = answer.headers.location ?? sessionIn(answer);
    return { headers: { "x-auth-token": token }, ...(session !== undefined && { session: ownPathOf(session) }) };
  }
  if (answer.status === 401 || answer.status === 403)
    throw refusedCredentials(origin, `the BMC answered the login with ${answer.status}`);
  const { ids, text } = messagesOf(answer);
  if (ids.some((id) => /Unauthorized|InsufficientPrivilege|Credential/i.test(id)))
    throw refusedCredentials(origin, `the BMC refused the login (${text})`);
  // A BMC without sessions, or whose few sessions others hold, takes the credentials with each request.
  return basic(credentials);
}

/** Ends a session. */
export async function logOut({ session, headers }: Login, send: LoginCall["send"]): Promise<void> {
  if (session !== undefined) await send({ method: "DELETE", path: session, headers });
}

function basic({ username, password }: BmcCredentials): Login {
  return { headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`, "utf8").toString("base64")}` } };
}

/** Undefined: the service has no sessions, or does not show its root. */
function sessionsIn(root: HttpAnswer): string | undefined {
  const body = parse(root);
  const link = linkAt(body, "Links", "Sessions");
  return link ?? (at(body, "SessionService") === undefined ? undefined : SESSIONS);
}

function sessionIn(answer: HttpAnswer): string | undefined {
  return textAt(parse(answer), "@odata.id");
}

function parse(answer: HttpAnswer): unknown {
  try {
    return JSON.parse(answer.body);
  } catch {
    return undefined;
  }
}
