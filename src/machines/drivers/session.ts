/** A session with a cloud's account, as all drivers over HTTP have it: what differs between clouds are headers and what a refusal means. */
import { type Clock, DEFAULT_TIMEOUT_MS, Fault, type Http, type HttpAnswer, isFault } from "@slipway/base";
import { Gate } from "./rate-limit.ts";

/** One call of a cloud's API. */
export interface ApiCall {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Under the API's base URL: `/devices/…`. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: object;
  /** What the call is about, for the fault: `device 1234`. */
  on: string;
  signal?: AbortSignal | undefined;
}

export interface SessionOptions {
  /** Base URL without a trailing slash. */
  endpoint: string;
  token: string;
  http: Http;
  clock: Clock;
}

/** One authenticated call; resolves with the parsed body (undefined when it is empty), rejects with a coded `Fault`. */
export type SessionOf<Call extends ApiCall> = (call: Call) => Promise<unknown>;

/** What one cloud's API has of its own. */
export interface Api<Call extends ApiCall> {
  /** That says who one is. */
  credentials: Readonly<Record<string, string>>;
  /** Of bodies, both ways. */
  mediaType: string;
  /** What an answer outside of 200 to 299 means. */
  failure(call: Call, answer: HttpAnswer): Fault;
}

/** A session with one account. The token goes to `endpoint` and nowhere else: redirects are refused, links in answers not followed. */
export function openApi<Call extends ApiCall>(
  { endpoint, http, clock }: SessionOptions,
  { credentials, mediaType, failure }: Api<Call>,
): SessionOf<Call> {
  const gate = new Gate(clock);
  return async (call) => {
    const answer = await gate.through(() => send(call), call);
    if (answer.status < 200 || answer.status > 299) throw failure(call, answer);
    return bodyOf(call, answer);
  };

  async function send(call: Call): Promise<HttpAnswer> {
    const { method, path, query, body, on, signal } = call;
    try {
      return await http({
        method,
        url: endpoint + path + queryString(query),
        headers: {
          ...credentials,
          accept: mediaType,
          ...(body !== undefined && { "content-type": mediaType }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        timeoutMs: DEFAULT_TIMEOUT_MS,
        ...(signal !== undefined && { signal }),
      });
    } catch (error) {
      if (!isFault(error, "LostAnswer", "Unavailable")) throw error;
      // A read without an answer had no effect that must be looked for.
      const code = isFault(error, "LostAnswer") && method !== "GET" ? "LostAnswer" : "Unavailable";
      throw new Fault(code, on, `no answer from the API to ${method}: ${error.message}`, { cause: error });
    }
  }
}

function bodyOf({ method, on }: ApiCall, { status, body }: HttpAnswer): unknown {
  if (body.trim() === "") return undefined;
  try {
    return JSON.parse(body);
  } catch (cause) {
    const code = method === "GET" ? "Unavailable" : "LostAnswer";
    throw new Fault(code, on, `the API answered ${status} with a body that is not JSON`, { cause });
  }
}

/** For an answer of 300 to 399. `said`: what the API answered. */
export function redirected(on: string, said: string): Fault {
  return new Fault("Unavailable", on, `${said}: a redirect, which is not followed`, {
    remedy: "set the provider's endpoint to the address the API is served at",
  });
}

function queryString(query: ApiCall["query"]): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) params.set(name, String(value));
  return params.size === 0 ? "" : `?${params}`;
}
