import { rm } from "node:fs/promises";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { TLSSocket } from "node:tls";
import { asFault, Fault } from "./fault.ts";
import { type HttpAnswer, type HttpHandler, type HttpRequest, plain, type TlsPeer } from "./http.ts";
import { type Log, quietLog } from "./log.ts";
import { createServer } from "./node-http.ts";

export interface HttpServerOptions {
  /** Default: loopback. */
  host?: string;
  /** 0: any free port. */
  port?: number;
  /** Path of a Unix socket in place of address and port; only its owner may connect. One that a dead process left is replaced. */
  socket?: string;
  /** PEM. `ca` given: clients must show a certificate it signed. */
  tls?: { key: string; cert: string; ca?: string };
  /** Looks at who asks, for servers with `tls.ca`, before anything of a request's body is read. False: it is answered 403. It must not throw. */
  admits?: (peer: TlsPeer) => boolean;
  /** Larger bodies are answered 413. */
  maxBodyBytes?: number;
  /** How long a client may take to send its request. */
  requestTimeoutMs?: number;
  /** How long a client may take for its TLS handshake. Default: two minutes. */
  handshakeTimeoutMs?: number;
  /** A connection on which nothing moves for longer is closed, an answer that is not taken included. Never unless set. */
  idleTimeoutMs?: number;
  /** Connections at one time; more are closed at once. */
  maxConnections?: number;
  /** The same for one client address. */
  maxPerAddress?: number;
  /** Gets the server before it listens, to watch its connections. */
  guard?: (server: Server) => void;
  /** Looks at each request first and may answer it by itself, as a stream. True: it does. It must not throw. */
  stream?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** The server alone keeps the process from ending unless this is set. */
  unref?: boolean;
  log?: Log;
}

export interface HttpServer {
  port: number;
  /** `http://127.0.0.1:8080`, without a trailing slash. */
  url: string;
  /** New connections are shown this certificate. Only for a server that was started with one. */
  renew(tls: NonNullable<HttpServerOptions["tls"]>): void;
  /** Takes no new connections, lets answers under way end for a second, then closes what is left. */
  close(): Promise<void>;
}

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]);
const CLOSE_GRACE_MS = 1_000;

/**
 * Serves a handler on a socket. The handler gets the absolute URL as the client meant it, the whole body, and a signal that is
 * aborted when the client closes the connection. What it throws is answered 500 without details. Rejects when the port can't be bound.
 */
export async function serveHttp(handler: HttpHandler, options: HttpServerOptions = {}): Promise<HttpServer> {
  const { host = "127.0.0.1", port = 0, tls, maxBodyBytes = 1024 * 1024, log = quietLog } = options;
  const requestTimeout = options.requestTimeoutMs ?? 30_000;
  let origin = "";
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const peer = tls?.ca === undefined ? undefined : peerOf(request.socket);
    if (tls?.ca !== undefined && (peer === undefined || options.admits?.(peer) === false)) {
      send(request, response, plain(403, "forbidden\n", { connection: "close" }));
      return;
    }
    if (options.stream?.(request, response)) return;
    answer(handler, request, { origin, maxBodyBytes, response, peer }).then(
      (body) => send(request, response, body),
      (error: unknown) => {
        log.error({ code: asFault(error, "http").code, method: request.method }, "a request was not served");
        send(request, response, plain(500, "internal error\n"));
      },
    );
  };
  const limits = { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval: 1_000 };
  const { handshakeTimeoutMs: handshakeTimeout } = options;
  const tlsServer =
    tls &&
    createTlsServer(
      {
        ...limits,
        ...tls,
        requestCert: tls.ca !== undefined,
        ...(handshakeTimeout !== undefined && { handshakeTimeout }),
      },
      onRequest,
    );
  const server: Server = tlsServer ?? createServer(limits, onRequest);
  if (options.idleTimeoutMs !== undefined) server.timeout = options.idleTimeoutMs;
  if (options.maxConnections !== undefined) server.maxConnections = options.maxConnections;
  if (options.maxPerAddress !== undefined) limitPerAddress(server, options.maxPerAddress);
  options.guard?.(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    const listening = (): void => {
      server.off("error", reject);
      resolve();
    };
    if (options.socket === undefined) server.listen(port, host, listening);
    else
      freeSocket(options.socket).then(() => {
        // Whoever may write to a socket may speak to it.
        const mask = process.umask(0o177);
        server.listen({ path: options.socket }, listening);
        process.umask(mask);
      }, reject);
  });
  if (options.unref) server.unref();
  const address = server.address() as AddressInfo | string;
  const bound = typeof address === "string" ? { address: "localhost", family: "unix", port: 0 } : address;
  const name = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  origin = `${tls ? "https" : "http"}://${name}:${bound.port}`;
  return {
    port: bound.port,
    url: origin,
    renew(renewed) {
      if (tlsServer === undefined) throw new Fault("Bug", origin, "a server without TLS has no certificate to renew");
      tlsServer.setSecureContext(renewed);
    },
    close: () => closeServer(server),
  };
}

function limitPerAddress(server: Server, most: number): void {
  const open = new Map<string, number>();
  server.on("connection", (socket) => {
    const address = socket.remoteAddress ?? "";
    const count = open.get(address) ?? 0;
    if (count >= most) return void socket.destroy();
    open.set(address, count + 1);
    socket.once("close", () => {
      const left = open.get(address)! - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}

/** Removes a socket file that no process listens at any more. Rejects with a `Fault` while one does. */
async function freeSocket(path: string): Promise<void> {
  const isServed = await new Promise<boolean>((resolve) => {
    const probe = connect(path, () => resolve(true)).once("error", () => resolve(false));
    probe.once("connect", () => probe.destroy());
  });
  if (isServed)
    throw new Fault("AlreadyExists", path, "another process listens at this socket", {
      remedy: "stop it, or choose another folder",
    });
  await rm(path, { force: true });
}

interface Exchange {
  origin: string;
  maxBodyBytes: number;
  response: ServerResponse;
  peer: TlsPeer | undefined;
}

async function answer(handler: HttpHandler, request: IncomingMessage, exchange: Exchange): Promise<HttpAnswer> {
  const method = request.method ?? "";
  if (!METHODS.has(method)) return plain(405, "method not allowed\n", { allow: [...METHODS].join(", ") });
  const url = absoluteUrl(request, exchange.origin);
  if (url === undefined) return plain(400, "bad request target\n");
  const body = await readBody(request, exchange.maxBodyBytes);
  if (body === undefined)
    return plain(413, `body larger than ${exchange.maxBodyBytes} bytes\n`, { connection: "close" });

  const gone = new AbortController();
  exchange.response.once("close", () => gone.abort(new DOMException("the client closed the connection", "AbortError")));
  const headers: Record<string, string> = {};
  for (const [key, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[key] = Array.isArray(value) ? value.join(", ") : value;
  }
  return handler({
    method: method as HttpRequest["method"],
    url,
    headers,
    ...(body === "" ? {} : { body }),
    signal: gone.signal,
    remote: request.socket.remoteAddress ?? "",
    ...(exchange.peer !== undefined && { peer: exchange.peer }),
  });
}

/** Who is on the other side; undefined: it has shown no certificate. */
function peerOf(socket: IncomingMessage["socket"]): TlsPeer | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const [, commonName = ""] = /^CN=(.*)$/m.exec(certificate.subject) ?? [];
  return { commonName, fingerprint: certificate.fingerprint256.replaceAll(":", "").toLowerCase() };
}

/** The Host header says which name the client used; a strange one is not worth a guess. */
function absoluteUrl(request: IncomingMessage, origin: string): string | undefined {
  const target = request.url ?? "/";
  if (!target.startsWith("/")) return undefined;
  const host = request.headers.host;
  if (host === undefined) return `${origin}${target}`;
  if (!/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d+)?$/.test(host)) return undefined;
  return `${origin.slice(0, origin.indexOf(":"))}://${host}${target}`;
}

/** Undefined: larger than `limit`. The rest of such a body is left unread. */
async function readBody(request: IncomingMessage, limit: number): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        request.pause();
        resolve(undefined);
      }
    });
    request.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    request.on("error", reject);
  });
}

function send(request: IncomingMessage, response: ServerResponse, answer: HttpAnswer): void {
  if (response.destroyed) return;
  const body = Buffer.from(answer.body, "utf8");
  // An answer that is passed on from another server brings a length of its own: two would be one too many.
  const { "content-length": given = String(body.length), ...headers } = answer.headers;
  // RFC 9110 §8.6: no length on 204 and 304. Spelled so because boot loaders know it in no other way.
  const length = answer.status === 204 || answer.status === 304 ? {} : { "Content-Length": given };
  response.writeHead(answer.status, { ...length, ...headers });
  response.end(request.method === "HEAD" ? undefined : body);
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}
