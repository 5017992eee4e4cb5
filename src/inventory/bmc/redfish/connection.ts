import { type Clock, Fault, type Http, type HttpAnswer, isFault, type Log } from "@slipway/base";
import type { BmcCredentials } from "../bmc.ts";
import { Places } from "../places.ts";
import type { Body } from "./body.ts";
import { BUSY, NOT_CARRIED_OUT, refusal, refusedCredentials, retryAfterMs } from "./refusal.ts";
import { type Login, logIn, logOut } from "./session.ts";
import { untrusted } from "./trust.ts";

export interface ConnectionOptions {
  /** `https://10.0.0.1`. */
  origin: string;
  credentials: BmcCredentials;
  http: Http;
  clock: Clock;
  /** Requests at one time. */
  places: number;
  log: Log;
}

/** A resource as it was answered. */
export interface Resource {
  path: string;
  body: Body;
  etag: string | undefined;
}

export interface Ask {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  body?: Body;
  /** Only when the resource still has this ETag. */
  ifMatch?: string;
}

interface Attempt {
  answer?: HttpAnswer;
  login?: Login;
}

const TIMEOUT_MS = 60_000;
/** Tries of one request that the BMC is too busy for. */
const ATTEMPTS = 4;
const FIRST_WAIT_MS = 1_000;
/** A BMC that wants to be left alone for longer is left to the caller. */
const LONGEST_WAIT_MS = 30_000;
const MOST_REDIRECTS = 3;
/** Sessions that one request may lose. */
const MOST_RENEWALS = 3;
/** Refused credentials are not shown again at once: BMCs lock accounts and addresses out. */
const LOCKOUT_MS = 30_000;

/**
 * Requests to one BMC with one account, few at a time. All machines behind the BMC share it, and its session. Redirects are followed on
 * the BMC itself only, so its credentials go nowhere else. Rejects with a `Fault`, as `bmc.ts` lists them.
 */
export class RedfishConnection {
  readonly origin: string;
  readonly #options: ConnectionOptions;
  readonly #places: Places;
  #login: Promise<Login> | undefined;
  #refusedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionOptions) {
    this.origin = options.origin;
    this.#options = options;
    this.#places = new Places(options.places);
  }

  /** Reads a resource. */
  async get(path: string, signal?: AbortSignal): Promise<Resource> {
    const answer = await this.ask({ method: "GET", path }, signal);
    if (answer.status >= 400) throw refusal(this.origin, `GET ${path}`, answer);
    return this.resourceIn(path, answer);
  }

  /**
   * One request; an error status is an answer, for the caller may know another way. A busy BMC is asked again a few times, for a write
   * only where nothing was carried out. A lost answer is a fault unless the request only reads.
   */
  async ask(ask: Ask, signal?: AbortSignal): Promise<HttpAnswer> {
    let renewals = 0;
    for (let attempt = 1, wait = FIRST_WAIT_MS; ; wait *= 2) {
      const { answer, login } = await this.#attempt(ask, attempt === ATTEMPTS, signal);
      if (answer?.status === 401) {
        // A session ends when the BMC restarts, or for reasons of its own; the request was not carried out.
        this.#judgeRefusal(ask, login, ++renewals);
        continue;
      }
      const asked = answer && retryAfterMs(answer);
      const isLast = attempt++ === ATTEMPTS || (asked ?? 0) > LONGEST_WAIT_MS;
      const isBusy = (ask.method === "GET" ? BUSY : NOT_CARRIED_OUT).has(answer?.status ?? 503);
      if (answer !== undefined && (isLast || !isBusy)) return answer;
      await this.#options.clock.sleep(asked ?? wait, signal);
    }
  }

  /** The resource in an answer. */
  resourceIn(path: string, answer: HttpAnswer): Resource {
    const body = objectIn(answer);
    if (body === undefined) throw new Fault("Unavailable", this.origin, `GET ${path}: the BMC answered no JSON object`);
    const inside = body["@odata.etag"];
    return { path, body, etag: answer.headers.etag ?? (typeof inside === "string" ? inside : undefined) };
  }

  /** The path of a link that the BMC gave. Throws a `Fault` for one that leads to another server. */
  pathOf(link: string, base = "/"): string {
    const url = URL.parse(link, this.origin + base);
    if (url?.origin === this.origin) return url.pathname + url.search;
    const where = (url?.origin ?? "no URL").slice(0, 128);
    throw new Fault("Unavailable", this.origin, `the BMC refers to another server (${where})`, {
      remedy: "if that is the same BMC, use its address; credentials are not sent there",
    });
  }

  /**
   * The path of what the BMC made for us: a session, a task. Whatever name it has for itself there, the BMC itself is asked: it need not know
   * the address that we reach it by.
   */
  ownPathOf(link: string): string {
    const url = URL.parse(link, `${this.origin}/`);
    return url === null ? "/" : url.pathname + url.search;
  }

  /** Ends the session. Never rejects. */
  async close(): Promise<void> {
    const login = this.#login;
    this.#login = undefined;
    try {
      if (login !== undefined) await logOut(await login, (request) => this.#send(request, undefined));
    } catch (error) {
      this.#options.log.info({ bmc: this.origin, error: String(error) }, "the session at a BMC is left to its timeout");
    }
  }

  /** Without an answer: it may be tried again. */
  async #attempt(ask: Ask, isLast: boolean, signal: AbortSignal | undefined): Promise<Attempt> {
    try {
      const shared = this.#loggedIn();
      const login = await shared;
      const answer = await this.#places.take(() => this.#follow(ask, login.headers, signal), signal);
      if (answer.status === 401 && this.#login === shared) this.#login = undefined;
      return { answer, login };
    } catch (error) {
      const again = isFault(error, "Unavailable") || (ask.method === "GET" && isFault(error, "LostAnswer"));
      if (!again || isLast || signal?.aborted) throw error;
      return {};
    }
  }

  /** Throws when a 401 is no matter of a session that has ended: only a login, or a password itself, shows that credentials are refused. */
  #judgeRefusal({ method, path }: Ask, login: Login | undefined, renewals: number): void {
    if (login?.session === undefined && login?.headers.authorization !== undefined) {
      this.#refusedUntil = this.#options.clock.monotonic() + LOCKOUT_MS;
      throw refusedCredentials(this.origin, `${method} ${path}: the BMC answered 401`);
    }
    if (renewals > MOST_RENEWALS)
      throw new Fault("Unavailable", this.origin, `${method} ${path}: the BMC ends its sessions at once`);
  }

  async #follow(ask: Ask, login: Login["headers"], signal: AbortSignal | undefined): Promise<HttpAnswer> {
    const { method, ifMatch, body } = ask;
    const headers = { ...login, ...(ifMatch !== undefined && { "if-match": ifMatch }) };
    let { path } = ask;
    for (let redirects = 0; ; redirects++) {
      const text = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await this.#send({ method, path, headers, ...text }, signal);
      const { location } = answer.headers;
      if (location === undefined || !isRedirect(method, answer.status)) return answer;
      if (redirects === MOST_REDIRECTS)
        throw new Fault("Unavailable", this.origin, `${method} ${ask.path}: the BMC redirects without an end`);
      path = this.pathOf(location, path);
    }
  }

  /** One exchange, with the headers of Redfish (DSP0266, request headers). */
  async #send(
    {
      path,
      ...request
    }: { method: Ask["method"]; path: string; headers: Readonly<Record<string, string>>; body?: string },
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    const headers: Record<string, string> = { accept: "application/json", "odata-version": "4.0", ...request.headers };
    if (request.body !== undefined) headers["content-type"] = "application/json";
    try {
      const { http } = this.#options;
      const url = this.origin + path;
      return await http({ timeoutMs: TIMEOUT_MS, ...request, url, headers, ...(signal !== undefined && { signal }) });
    } catch (error) {
      const known = untrusted(this.origin, error) ?? (isFault(error) ? error : undefined);
      throw known ?? new Fault("LostAnswer", this.origin, "the call ended before its answer came", { cause: error });
    }
  }

  /** The login that all share: the first who needs it makes it, and its end is not the end of the others'. */
  #loggedIn(): Promise<Login> {
    const { clock, credentials } = this.#options;
    if (clock.monotonic() < this.#refusedUntil)
      return Promise.reject(refusedCredentials(this.origin, "the BMC refused these credentials a moment ago"));
    this.#login ??= this.#places
      .take(() =>
        logIn({
          origin: this.origin,
          credentials,
          pathOf: (link) => this.pathOf(link),
          ownPathOf: (link) => this.ownPathOf(link),
          send: (request) => this.#send(request, undefined),
        }),
      )
      .catch((error: unknown) => {
        this.#login = undefined;
        if (isFault(error, "BadCredentials")) this.#refusedUntil = clock.monotonic() + LOCKOUT_MS;
        throw error;
      });
    return this.#login;
  }
}

/** A write is repeated elsewhere only where the method stays (RFC 9110 §15.4). */
function isRedirect(method: Ask["method"], status: number): boolean {
  return status === 307 || status === 308 || (method === "GET" && (status === 301 || status === 302 || status === 303));
}

function objectIn(answer: HttpAnswer): Body | undefined {
  try {
    const body: unknown = JSON.parse(answer.body);
    return typeof body === "object" && body !== null && !Array.isArray(body) ? (body as Body) : undefined;
  } catch {
    return undefined;
  }
}
