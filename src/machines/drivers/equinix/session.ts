import { type Clock, DEFAULT_TIMEOUT_MS, Fault, type Http, type HttpAnswer, isFault } from "@slipway/base";
import { Gate } from "../rate-limit.ts";
import { reasons, refusal } from "./refusals.ts";

export interface Call {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Under the API's base URL: `/devices/…`. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: object;
  /** A refusal because it is so already has its own code, `AlreadyConfigured`. */
  mayBeDone?: boolean;
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
export type Session = (call: Call) => Promise<unknown>;

/** A session with one account. The token goes to `endpoint` and nowhere else: redirects are refused, links in answers not followed. */
export function openSession({ endpoint, token, http, clock }: SessionOptions): Session {
  const gate = new Gate(clock);
  return async (call) => bodyOf(call, await gate.through(() => send(call), call));

  async function send(call: Call): Promise<HttpAnswer> {
    try {
      return await http({
        method: call.method,
        url: endpoint + call.path + queryString(call.query),
        headers: {
          "x-auth-token": token,
          accept: "application/json",
          ...(call.body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        timeoutMs: DEFAULT_TIMEOUT_MS,
        ...(call.signal === undefined ? {} : { signal: call.signal }),
      });
    } catch (error) {
      // A read without an answer had no effect that must be looked for.
      const code = isFault(error, "LostAnswer") && call.method !== "GET" ? "LostAnswer" : "Unavailable";
      if (isFault(error, "LostAnswer", "Unavailable")) {
        throw new Fault(code, call.on, `no answer from the API: ${error.message}`, { cause: error });
      }
      throw error;
    }
  }
}

function bodyOf(call: Call, answer: HttpAnswer): unknown {
  if (answer.status < 200 || answer.status > 299) throw failure(call, answer);
  if (answer.body === "") return undefined;
  try {
    return JSON.parse(answer.body);
  } catch (cause) {
    const code = call.method === "POST" ? "LostAnswer" : "Unavailable";
    throw new Fault(code, call.on, `the API answered ${answer.status} with a body that is not JSON`, { cause });
  }
}

function failure(call: Call, answer: HttpAnswer): Fault {
  const { status } = answer;
  const texts = reasons(answer.body);
  const said = `the API answered ${status}${texts.length > 0 ? `: ${texts.join("; ")}` : ""}`;
  if (status === 401 || status === 403) {
    const remedy = "put a project API key with write access into the provider's Secret";
    return new Fault("BadCredentials", call.on, said, { remedy, details: { status } });
  }
  if (status === 404) return new Fault("NotFound", call.on, said);
  if (status === 408 || status >= 500) {
    return new Fault(call.method === "POST" ? "LostAnswer" : "Unavailable", call.on, said);
  }
  if (status === 422) return refusal(call.on, texts, call.mayBeDone === true);
  if (status >= 300 && status < 400) {
    const remedy = "set the provider's endpoint to the address the API is served at";
    return new Fault("Unavailable", call.on, `${said}: a redirect, which is not followed`, { remedy });
  }
  return new Fault("Invalid", call.on, said);
}

function queryString(query: Call["query"]): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) params.set(name, String(value));
  return params.size === 0 ? "" : `?${params}`;
}
