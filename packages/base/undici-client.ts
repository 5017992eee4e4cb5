/** The `Http` port by undici. */
import { isIP, type LookupFunction } from "node:net";
import { Agent, type Dispatcher } from "undici";
import { deadline, systemClock } from "./clock.ts";
import { Fault } from "./fault.ts";
import { DEFAULT_TIMEOUT_MS, type Http, type HttpAnswer, type HttpRequest } from "./http.ts";
import { type HttpClientOptions, MAX_ANSWER_BYTES } from "./http-client-options.ts";
import { proxyOfEnvironment } from "./proxy.ts";

/** The client that `undiciHttp` promises, whole. */
export function undiciClient(options: HttpClientOptions): Http & { close(): Promise<void> } {
  const clock = options.clock ?? systemClock;
  const trust = {
    timeout: DEFAULT_TIMEOUT_MS,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ...(options.client && { cert: options.client.certificatePem, key: options.client.keyPem }),
    ...(options.anyCertificate === true && { rejectUnauthorized: false }),
  };
  const own: Agent.Options = {
    connections: options.connections ?? 16,
    allowH2: false,
    // The request's own deadline rules; two more clocks beside it would only disagree.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      ...trust,
      ...(options.socket === undefined ? {} : { socketPath: options.socket }),
      ...(options.address === undefined ? {} : { lookup: always(options.address) }),
    },
  };
  const proxy = options.proxy ? proxyOfEnvironment(process.env, { ...own, requestTls: trust }) : undefined;
  const agent = proxy ?? new Agent(own);
  const http: Http = async (request) => {
    const limit = deadline(clock, request.timeoutMs ?? DEFAULT_TIMEOUT_MS, request.signal);
    try {
      return await exchange(agent, request, limit.signal, options.maxAnswerBytes ?? MAX_ANSWER_BYTES);
    } finally {
      limit.done();
    }
  };
  return Object.assign(http, { close: () => agent.destroy() });
}

/** A name service that knows one address. */
function always(address: string): LookupFunction {
  const family = isIP(address);
  return (_host, { all }, resolve) =>
    all === true ? resolve(null, [{ address, family }]) : resolve(null, address, family);
}

function exchange(
  agent: Dispatcher,
  request: HttpRequest,
  signal: AbortSignal,
  maxAnswerBytes: number,
): Promise<HttpAnswer> {
  const url = parseUrl(request);
  const on = `${request.method} ${url.origin}`;
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let answer: { status: number; headers: Record<string, string> } | undefined;
    const chunks: Buffer[] = [];
    let size = 0;

    const fail = (error: unknown): void => {
      signal.removeEventListener("abort", onAbort);
      reject(toFault(on, error, controller !== undefined));
    };
    const onAbort = (): void => {
      controller?.abort(signal.reason);
      fail(signal.reason);
    };
    if (signal.aborted) return fail(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        // The caller may have given up while the connection was being made.
        if (signal.aborted) started.abort(signal.reason);
        else controller = started;
      },
      onResponseStart(_, status, headers) {
        // 1xx answers precede the real one.
        if (status >= 200) answer = { status, headers: joined(headers) };
      },
      onResponseData(started, chunk) {
        size += chunk.length;
        if (size > maxAnswerBytes) started.abort(new Error(`the answer is larger than ${maxAnswerBytes} bytes`));
        else chunks.push(chunk);
      },
      onResponseEnd() {
        signal.removeEventListener("abort", onAbort);
        if (answer === undefined) return fail(new Error("the answer had no status"));
        resolve({ ...answer, body: Buffer.concat(chunks).toString("utf8") });
      },
      onResponseError: (_, error) => fail(error),
    };
    const { method, headers, body } = request;
    agent.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method, headers: headers ?? {}, body: body ?? null },
      handler,
    );
  });
}

function parseUrl(request: HttpRequest): URL {
  const url = URL.canParse(request.url) ? new URL(request.url) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new Fault("Invalid", `${request.method} request`, "its URL is not an absolute http or https URL");
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) out[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return out;
}

function toFault(on: string, error: unknown, sent: boolean): Fault {
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  const text = error instanceof Error ? error.message || error.name : String(error);
  const reason = code === undefined || text.includes(code) ? text : `${text} (${code})`;
  if (sent) return new Fault("LostAnswer", on, `no answer after the request was sent: ${reason}`, { cause: error });
  if (code === "UND_ERR_INVALID_ARG") return new Fault("Invalid", on, reason, { cause: error });
  return new Fault("Unavailable", on, `not reached: ${reason}`, { cause: error });
}
