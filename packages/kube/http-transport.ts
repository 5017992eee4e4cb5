import { Fault, isFault } from "@slipway/base";
import type { Dispatcher } from "undici";
import type { Connection } from "./connection.ts";
import { type Receive, StreamedAnswer, WholeAnswer } from "./http-answer.ts";
import type { Generation, Sockets } from "./sockets.ts";
import type { ApiAnswer, ApiRequest, Transport, WatchStream } from "./transport.ts";

export interface HttpTransportOptions {
  userAgent?: string;
  /** Sockets for requests; each watch has its own besides. 64 unless said. */
  connections?: number;
  /** Answers that are longer are refused with `TooLarge`. 256 MiB unless said. */
  maxAnswerBytes?: number;
}

/**
 * A transport over HTTP/1.1 with keep-alive, by client certificate or Authorization header. A failure before the request was handed to
 * a connected socket is `Unavailable`; one after it is `LostAnswer`. A 401 is tried once more with a fresh credential. Renewed
 * certificates are shown on new sockets; what runs on the old ones may end. After a silence that a caller waited for in vain, too, new
 * sockets are used: those of a server that went without a word would take one such wait each.
 */
export function createHttpTransport(connection: Connection, options: HttpTransportOptions = {}): Transport {
  const { origin, pathname } = new URL(connection.server);
  const prefix = pathname.replace(/\/$/, "");
  const userAgent = options.userAgent ?? "slipway";
  let opened: Promise<Sockets> | undefined;
  let isClosed = false;
  // Loads undici, 0.1 s and 20 MiB, with the first request: `slipway up` has ways to clusters that it never asks.
  const open = async (): Promise<Sockets> => {
    const { Sockets } = await import("./sockets.ts");
    const sockets = new Sockets(connection, options.connections ?? 64);
    // Asked for the first time after it was closed: it refuses, as one that was used before.
    if (isClosed) await sockets.close();
    return sockets;
  };

  async function send(which: "requests" | "watches", request: ApiRequest, receive: Receive): Promise<void> {
    request.signal?.throwIfAborted();
    const first = await credentials(false);
    const status = await exchange(first, which, request, receive);
    if (status !== 401) return receive.answered();
    const second = await credentials(true);
    const isNew = second.authorization !== first.authorization || second.sockets !== first.sockets;
    if (isNew) await exchange(second, which, request, receive);
    receive.answered();
  }

  async function credentials(fresh: boolean): Promise<Credentials> {
    const authorization = await connection.authorization?.(fresh);
    const certificates = await connection.certificates?.(fresh);
    opened ??= open();
    const all = await opened;
    return { authorization, all, sockets: certificates === undefined ? all.current : all.showing(certificates) };
  }

  /** One exchange; resolves with the status once an error's whole body, or a stream's beginning, is there. */
  function exchange(
    { authorization, all, sockets: used }: Credentials,
    which: "requests" | "watches",
    request: ApiRequest,
    receive: Receive,
  ): Promise<number> {
    const query = request.query === undefined ? "" : new URLSearchParams({ ...request.query }).toString();
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    const exchanged = Promise.withResolvers<number>();
    used[which].dispatch(
      {
        origin,
        path: `${prefix}${request.path}${query === "" ? "" : `?${query}`}`,
        method: request.method,
        headers: {
          accept: request.accept ?? "application/json",
          "user-agent": userAgent,
          ...(body === null ? {} : { "content-type": request.contentType ?? "application/json" }),
          ...(authorization === undefined ? {} : { authorization }),
        },
        body,
        // Kubernetes reads what a DELETE carries; undici takes a body there for one that servers don't, and would not use the socket again.
        reset: false,
      },
      handler(request, receive, exchanged, () => all.leave(used)),
    );
    return exchanged.promise;
  }

  return {
    request(request) {
      return new Promise<ApiAnswer>((resolve, reject) => {
        const whole = new WholeAnswer(resolve, options.maxAnswerBytes);
        send("requests", request, whole).catch(reject);
      });
    },
    watch(request) {
      return new Promise<WatchStream | ApiAnswer>((resolve, reject) => {
        const stream = new StreamedAnswer(`WATCH ${request.path}`, resolve);
        send("watches", request, stream).catch(reject);
      });
    },
    async close() {
      isClosed = true;
      await (await opened)?.close();
    },
  };
}

function handler(
  { method, path, signal }: ApiRequest,
  receive: Receive,
  { resolve, reject }: PromiseWithResolvers<number>,
  onSilence: () => void,
): Dispatcher.DispatchHandler {
  let sent = false;
  let status = 0;
  let controller: Dispatcher.DispatchController | undefined;
  const onAbort = (): void => {
    controller?.abort(asError(signal?.reason));
    receive.end(signal?.reason);
    reject(signal?.reason);
    if (isForSilence(signal?.reason)) onSilence();
  };
  const over = (): void => signal?.removeEventListener("abort", onAbort);
  signal?.addEventListener("abort", onAbort, { once: true });
  return {
    onRequestStart(c) {
      controller = c;
      if (signal?.aborted) c.abort(asError(signal.reason));
      else sent = true;
    },
    onResponseStart(c, code, headers) {
      if (code < 200) return;
      status = code;
      if (receive.start(code, flat(headers), c)) resolve(code);
    },
    onResponseData(c, chunk) {
      try {
        receive.data(chunk);
      } catch (error) {
        c.abort(asError(error));
      }
    },
    onResponseEnd() {
      over();
      receive.end();
      resolve(status);
    },
    onResponseError(_, error) {
      over();
      const fault = signal?.aborted ? signal.reason : faultOfSocket(`${method} ${path}`, error, sent);
      receive.end(fault);
      reject(fault);
    },
  };
}

function faultOfSocket(on: string, error: Error, sent: boolean): Fault {
  if (error instanceof Fault) return error;
  const code = (error as { code?: string }).code;
  const what = code === undefined ? error.message : `${error.message} (${code})`;
  if (sent) return new Fault("LostAnswer", on, `the connection broke: ${what}`, { cause: error });
  return new Fault("Unavailable", on, `no connection: ${what}`, {
    cause: error,
    remedy:
      "check that the server's address is right and reachable, and that its certificate is signed by the given CA",
  });
}

/** Whether a caller gave up because nothing came: a call's time was over, or a watch was too long without a word. */
function isForSilence(reason: unknown): boolean {
  return isFault(reason, "Unavailable") || (reason instanceof DOMException && reason.name === "TimeoutError");
}

interface Credentials {
  authorization: string | undefined;
  all: Sockets;
  sockets: Generation;
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) out[name] = Array.isArray(value) ? value.join(", ") : value;
  return out;
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
