import { type Clock, DEFAULT_TIMEOUT_MS, Fault, type Http, type HttpAnswer, isFault } from "@slipway/base";
import { Gate } from "../rate-limit.ts";
import { refusal, refusalsIn } from "./refusals.ts";

const JSON_API = "application/vnd.api+json";

export interface Call {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Under the API's base URL: `/servers/…`. */
  path: string;
  query?: Readonly<Record<string, string | number>>;
  body?: object;
  /** What the call is about, for the fault: `server web-1`. */
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
export type Session = (call: Call) => Promise<unknown>;

/** A session with one account. The key goes to `endpoint` and nowhere else: redirects are refused, links in answers not followed. */
export function openSession({ endpoint, token, http, clock }: SessionOptions): Session {
  const gate = new Gate(clock);
  return async (call) => bodyOf(call, await gate.through(() => send(call), call));

  async function send(call: Call): Promise<HttpAnswer> {
    try {
      return await http({
        method: call.method,
        url: endpoint + call.path + queryString(call.query),
        headers: {
          authorization: token,
          accept: JSON_API,
          ...(call.body === undefined ? {} : { "content-type": JSON_API }),
        },
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        timeoutMs: DEFAULT_TIMEOUT_MS,
        ...(call.signal === undefined ? {} : { signal: call.signal }),
      });
    } catch (error) {
      if (!isFault(error, "LostAnswer", "Unavailable")) throw error;
      // A read without an answer had no effect that must be looked for.
      const lost = isFault(error, "LostAnswer") && call.method !== "GET";
      throw new Fault(lost ? "LostAnswer" : "Unavailable", call.on, `no answer from the API to ${call.method}`, {
        cause: error,
      });
    }
  }
}

function bodyOf(call: Call, answer: HttpAnswer): unknown {
  if (answer.status < 200 || answer.status > 299) throw failure(call, answer);
  if (answer.body.trim() === "") return undefined;
  try {
    return JSON.parse(answer.body);
  } catch (cause) {
    const message = `the API answered ${answer.status} with a body that is not JSON`;
    throw new Fault(call.method === "GET" ? "Unavailable" : "LostAnswer", call.on, message, { cause });
  }
}

function failure(call: Call, { status, body }: HttpAnswer): Fault {
  const refusals = refusalsIn(body);
  const refused = refusal(call.on, status, refusals);
  if (status === 401) return badKey(call.on, refused.message);
  // The API also answers 403 for what a good key may not do to a locked server.
  if (status === 403) return refused.code === "Locked" ? refused : badKey(call.on, refused.message);
  if (status === 404) return new Fault("NotFound", call.on, refused.message);
  if (status === 408 || status >= 500) {
    const lost = call.method !== "GET";
    return new Fault(lost ? "LostAnswer" : "Unavailable", call.on, `the API answered ${status}`);
  }
  if (status >= 300 && status < 400) {
    const remedy = "set the provider's endpoint to the address the API is served at";
    return new Fault("Unavailable", call.on, `the API answered ${status}: a redirect, which is not followed`, {
      remedy,
    });
  }
  return refused;
}

function badKey(on: string, message: string): Fault {
  return new Fault("BadCredentials", on, message, {
    remedy: "put an API key that may write into the provider's Secret",
  });
}

function queryString(query: Call["query"]): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) params.set(name, String(value));
  return params.size === 0 ? "" : `?${params}`;
}
