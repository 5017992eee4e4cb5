import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Writable } from "node:stream";
import type { TLSSocket } from "node:tls";
import { dump } from "js-yaml";
import { Fault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import type { WatchEvent } from "../kube/transport.ts";
import { userOfCertificate } from "./auth/authenticate.ts";
import { MAX_BODY_BYTES, mediaType, PROTOBUF, tooLarge } from "./body.ts";
import { gzipHeaders, gzipInto, takesGzip, weigh } from "./gzip.ts";
import { isRecord } from "./json-value.ts";
import type { PlainAnswer, ServerAnswer, ServerRequest, StreamAnswer } from "./request.ts";
import { statusOfError } from "./status.ts";

export interface ListenOptions {
  /** 0 or unset: any free port. */
  port?: number;
  /** Loopback unless said. */
  host?: string;
  /** PEM texts. `clientCa` verifies client certificates, whose CN and O name the user. */
  tls?: { cert: string; key: string; clientCa?: string };
  /** A reader that takes nothing for this long while there is something to send is disconnected. 30 s unless said. */
  stalledMs?: number;
}

export interface Listening {
  port: number;
  url: string;
  close(): Promise<void>;
}

const STALLED_MS = 30_000;
/** Lists longer than this are turned into text piece by piece. */
const WHOLE_LIST = 200;

/** Serves requests over HTTP/1.1. Rejects with `Unavailable` when the port can't be had. */
export async function listen(
  handle: (request: ServerRequest) => Promise<ServerAnswer>,
  log: Log,
  options: ListenOptions,
): Promise<Listening> {
  const host = options.host ?? "127.0.0.1";
  const onRequest: RequestListener = (req, res) => {
    serve(handle, req, res, options.stalledMs ?? STALLED_MS).catch((error: unknown) => {
      log.debug({ error }, "a connection broke");
      res.destroy();
    });
  };
  const server = open(options.tls, onRequest);
  server.keepAliveTimeout = 120_000;
  server.listen(options.port ?? 0, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new Fault("Unavailable", "api server", `can't listen on ${host}:${options.port ?? 0}`, { cause });
  }
  const { port } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    port,
    url: `${options.tls === undefined ? "http" : "https"}://${name}:${port}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function open(tls: ListenOptions["tls"], onRequest: RequestListener): Server {
  if (tls === undefined) return createServer(onRequest);
  const { cert, key, clientCa } = tls;
  // A client without a certificate may still bring a token, so the handshake does not insist.
  const client = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false };
  return createTlsServer({ cert, key, minVersion: "TLSv1.2", ...client }, onRequest);
}

async function serve(
  handle: (request: ServerRequest) => Promise<ServerAnswer>,
  req: IncomingMessage,
  res: ServerResponse,
  stalledMs: number,
): Promise<void> {
  const gone = new AbortController();
  res.on("close", () => gone.abort());
  res.setHeader("cache-control", "no-cache, private");
  const body = await readBody(req);
  if (body === undefined) {
    const status = statusOfError(tooLarge());
    res.setHeader("connection", "close");
    const headers = { "content-type": "application/json" };
    return sendPlain(req, res, { status: status.code, headers, body: status }, stalledMs);
  }
  const url = req.url ?? "/";
  const mark = url.indexOf("?");
  const answer = await handle({
    method: req.method ?? "GET",
    path: mark < 0 ? url : url.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)),
    headers: headersOf(req),
    body,
    ...senderOf(req),
    signal: gone.signal,
  });
  if ("stream" in answer) await sendStream(res, answer, stalledMs);
  else await sendPlain(req, res, answer, stalledMs);
}

type Sender = Pick<ServerRequest, "user" | "badCertificate">;

/** Who is at the other end of a connection, found out once. */
const senders = new WeakMap<Socket, Sender>();

function senderOf({ socket }: IncomingMessage): Sender {
  let found = senders.get(socket);
  if (found === undefined) {
    found = certificateUser(socket as Partial<TLSSocket>);
    senders.set(socket, found);
  }
  return found;
}

function certificateUser(socket: Partial<TLSSocket>): Sender {
  const { subject, fingerprint256 } = socket.getPeerCertificate?.() ?? {};
  if (subject === undefined || fingerprint256 === undefined) return {};
  if (socket.authorized !== true) return { badCertificate: true };
  const user = userOfCertificate(subject, fingerprint256.replaceAll(":", "").toLowerCase());
  return user === undefined ? { badCertificate: true } : { user };
}

/** Impersonation's headers may be repeated and hold commas: their values stay apart, a line each. */
function headersOf(req: IncomingMessage): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(req.headers)) {
    if (value === undefined) continue;
    if (name.startsWith("impersonate-")) out[name] = req.headersDistinct[name]!.join("\n");
    else out[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return out;
}

/** The body as text, protobuf as bytes; undefined when it is larger than any request may be. */
async function readBody(req: IncomingMessage): Promise<string | Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  const whole = Buffer.concat(chunks);
  return whole.length > 0 && mediaType(req.headers["content-type"]) === PROTOBUF ? whole : whole.toString("utf8");
}

async function sendPlain(
  req: IncomingMessage,
  res: ServerResponse,
  answer: PlainAnswer,
  stalledMs: number,
): Promise<void> {
  const { body, status, headers } = answer;
  const isEmpty = req.method === "HEAD" || status === 304;
  if (isEmpty || typeof body === "string" || body instanceof Uint8Array) {
    res.writeHead(status, headers);
    return void (isEmpty ? res.end() : res.end(body));
  }
  const texts = textsOf(req, answer);
  const { begun, isLong } = takesGzip(req.headers["accept-encoding"]) ? weigh(texts) : { begun: "", isLong: false };
  res.writeHead(status, isLong ? gzipHeaders(headers) : headers);
  const out = isLong ? gzipInto(res) : res;
  if (begun !== "") await write(res, begun, stalledMs, out);
  for (const text of texts) {
    await write(res, text, stalledMs, out);
    if (res.destroyed) return;
  }
  out.end();
}

/** An answer's text: in one piece, but for long lists. */
function* textsOf(req: IncomingMessage, { body, headers }: PlainAnswer): Generator<string, void> {
  if (headers["content-type"]?.startsWith("application/yaml")) return yield yaml(body);
  if (wantsIndent(req)) return yield `${JSON.stringify(body, null, 2)}\n`;
  const items = isRecord(body) ? body.items : undefined;
  if (!Array.isArray(items) || items.length <= WHOLE_LIST) return yield JSON.stringify(body);
  const [head, tail] = JSON.stringify({ ...(body as object), items: [] }).split('"items":[]') as [string, string];
  yield `${head}"items":[`;
  for (let at = 0; at < items.length; at += WHOLE_LIST) {
    const piece = items.slice(at, at + WHOLE_LIST).map((item) => JSON.stringify(item));
    yield (at === 0 ? "" : ",") + piece.join(",");
  }
  yield `]${tail}`;
}

/** People read what they ask for with these tools; a request may also say it (`?pretty=true`, `?pretty=false`). */
function wantsIndent({ url = "", headers }: IncomingMessage): boolean {
  const asked = /[?&]pretty=([^&]+)/.exec(url)?.[1];
  if (asked !== undefined) return /^(1|t|true)$/i.test(asked);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(headers["user-agent"] ?? "");
}

/** YAML as Kubernetes writes it: names in order, lists not indented. */
function yaml(body: unknown): string {
  return dump(body, { sortKeys: true, seqNoIndent: true, lineWidth: -1, noRefs: true, quoteStyle: "double" });
}

/** The text of an event, made once for all watches that show it. */
const lines = new WeakMap<WatchEvent, string>();

async function sendStream(
  res: ServerResponse,
  { status, headers, stream }: StreamAnswer,
  stalledMs: number,
): Promise<void> {
  res.writeHead(status, headers);
  res.flushHeaders();
  for await (const event of stream) {
    let line = lines.get(event);
    if (line === undefined) {
      line = `${JSON.stringify(event)}\n`;
      lines.set(event, line);
    }
    await write(res, line, stalledMs);
    if (res.destroyed) break;
  }
  res.end();
}

/** Writes to the response, or through `out` on the way there, and, when the reader is behind, waits for it, but not for ever. */
async function write(res: ServerResponse, text: string, stalledMs: number, out: Writable = res): Promise<void> {
  if (res.destroyed || out.write(text)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stalled = (): void => void res.destroy();
  res.socket?.setTimeout(stalledMs, stalled);
  out.once("drain", resolve);
  res.once("close", resolve);
  await promise;
  out.off("drain", resolve);
  res.off("close", resolve);
  res.socket?.setTimeout(0);
  res.socket?.off("timeout", stalled);
}
