/**
 * What boot clients reach over HTTP: handlers under the paths that are given to them, and files under the names that their sources
 * declare. Nothing else: no listing, no working directory. Over TLS as well, on a port of its own, where it is given a certificate.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, type HttpHandler, type Log, plain, systemClock } from "@slipway/base";
import { type HttpServer, serveHttp } from "@slipway/base/http-server";
import type { FileSource } from "../files/source.ts";
import { ChunkBuffers } from "./chunk-buffers.ts";
import { Connections } from "./connections.ts";
import { answerFile, type FileAnswerPorts } from "./file-answer.ts";

export interface NetbootHttpOptions {
  files: FileSource;
  /** By path: `/boot.ipxe` is that path, `/agent/v1/` all below it. */
  handlers?: Readonly<Record<string, HttpHandler>>;
  /** Where both listen. */
  host: string;
  /** 0: any free one. */
  port: number;
  /** PEM. Without it nothing listens for TLS. */
  tls?: { port: number; key: string; cert: string };
  /** Called with every answer once it has ended. Must not throw. */
  onAnswered?: (answered: Answered) => void;
  /** Which host a request shows to be of, by its token or by a capability in its path; undefined: none, and its body is not read. Must not throw. */
  hostOf?: (request: { path: string; authorization: string }) => string | undefined;
  /** As for `answerFile`. */
  prepare?: FileAnswerPorts["prepare"];
  clock?: Pick<Clock, "monotonic">;
  log?: Log;
}

export interface Answered {
  /** The client's address. */
  remote: string;
  method: string;
  /** As it was asked for, its query left out: to be shown with care, since it may hold a capability. */
  path: string;
  status: number;
  /** What the client got, headers included. */
  bytes: number;
  /** False: the connection ended first. */
  complete: boolean;
  /** From the request to the end of its answer. */
  ms: number;
}

export interface NetbootHttp {
  /** `http://10.77.0.1:8080`, without a trailing slash. */
  url: string;
  port: number;
  tls?: {
    url: string;
    port: number;
    /** New connections are shown this certificate. */
    renew: HttpServer["renew"];
  };
  /** Takes no new connections, lets answers under way end for a second, then closes what is left. */
  close(): Promise<void>;
}

/** A report of the largest machine that the agent's protocol allows. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Longer than the longest wait for an order, and than a slow disk holds up the image that is written to it. */
const IDLE_MS = 600_000;
/** As many hosts as are kept may wait for work, one connection each, and some fetch beside it. An agent has up to six. */
const CONNECTIONS = { most: 16_384, perAddress: 256, perHost: 16 };
/** Bodies that are being read at one time, by what they say that they are. */
const MAX_BODIES_BYTES = 64 * 1024 * 1024;

/** Serves until it is closed. Rejects when a port can't be bound; nothing listens then. */
export async function netbootHttp(options: NetbootHttpOptions): Promise<NetbootHttp> {
  const { files, host, port, tls, onAnswered, hostOf, prepare, clock = systemClock, log } = options;
  const connections = new Connections(CONNECTIONS, clock);
  const bodies = new BodyBudget(MAX_BODIES_BYTES);
  const filePorts = { buffers: new ChunkBuffers(), ...(log && { log }), ...(prepare && { prepare }) };
  const handlers = Object.entries(options.handlers ?? {});
  const handlerOf = (path: string): HttpHandler | undefined =>
    handlers.find(([own]) => path === own || (own.endsWith("/") && path.startsWith(own)))?.[1];

  const stream = (request: IncomingMessage, response: ServerResponse): boolean => {
    const path = pathOf(request);
    if (onAnswered) reportWhenAnswered({ request, response, path, clock }, onAnswered);
    const asker = hostOf?.({ path, authorization: request.headers.authorization ?? "" });
    if (asker !== undefined) connections.isOf(request, asker);
    if (handlerOf(path) === undefined) {
      void answerFile(files, request, response, filePorts);
      return true;
    }
    const bytes = bodyBytes(request);
    if (bytes === 0) return false;
    if (hostOf !== undefined && asker === undefined) return refuse(response, 401, "not authorized\n");
    return bodies.take(bytes, response) ? false : refuse(response, 503, "try again\n");
  };
  const handle: HttpHandler = async (request) => {
    const handler = handlerOf(URL.parse(request.url)?.pathname ?? "");
    return handler === undefined ? plain(404, "not found\n") : handler(request);
  };

  const limits = {
    maxBodyBytes: MAX_BODY_BYTES,
    idleTimeoutMs: IDLE_MS,
    guard: connections.guard,
  };
  const common = { host, stream, ...limits, ...(log === undefined ? {} : { log }) };
  const open = await serveHttp(handle, { ...common, port });
  if (tls === undefined) return { url: open.url, port: open.port, close: open.close };
  let secure: HttpServer;
  try {
    secure = await serveHttp(handle, { ...common, port: tls.port, tls: { key: tls.key, cert: tls.cert } });
  } catch (error) {
    await open.close();
    throw error;
  }
  return {
    url: open.url,
    port: open.port,
    tls: { url: secure.url, port: secure.port, renew: secure.renew },
    close: async () => void (await Promise.all([open.close(), secure.close()])),
  };
}

/** The bytes of bodies that are being read. */
class BodyBudget {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes bytes until the answer has ended. False: there are not so many left, and nothing is taken. */
  take(bytes: number, until: ServerResponse): boolean {
    if (this.#taken + bytes > this.#most) return false;
    this.#taken += bytes;
    until.once("close", () => {
      this.#taken -= bytes;
    });
    return true;
  }
}

/** What a request's body is at most; one that does not say it may be the largest, one that is larger is refused later. */
function bodyBytes({ headers }: IncomingMessage): number {
  if (headers["transfer-encoding"] !== undefined) return MAX_BODY_BYTES;
  return Math.min(MAX_BODY_BYTES, Number(headers["content-length"] ?? 0));
}

/** Answers without reading the body; the rest of it would be taken for the next request, so the connection ends. */
function refuse(response: ServerResponse, status: 401 | 503, text: string): true {
  const why = status === 401 ? { "www-authenticate": "Bearer" } : { "retry-after": "10" };
  response.writeHead(status, {
    "content-type": "text/plain",
    "content-length": text.length,
    connection: "close",
    ...why,
  });
  response.end(text);
  return true;
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? "").split("?", 1)[0]!;
}

function reportWhenAnswered(
  {
    request,
    response,
    path,
    clock,
  }: { request: IncomingMessage; response: ServerResponse; path: string; clock: Pick<Clock, "monotonic"> },
  report: (answered: Answered) => void,
): void {
  const { socket, method = "" } = request;
  const began = clock.monotonic();
  const remote = socket.remoteAddress ?? "";
  const before = socket.bytesWritten;
  response.once("close", () =>
    report({
      remote,
      method,
      path,
      status: response.statusCode,
      bytes: socket.bytesWritten - before,
      complete: response.writableFinished,
      ms: clock.monotonic() - began,
    }),
  );
}
