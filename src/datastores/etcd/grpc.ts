import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from "node:http2";
import { connect as connectSocket } from "node:net";
import { Fault } from "@slipway/base";
import type { TlsFiles } from "../datastore.ts";
import type { Endpoint } from "../endpoint.ts";
import { firstReached, type Limits, networkFault, within } from "../reach.ts";

/** A status that is not OK, as the server worded it. */
export class GrpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** No answer of etcd is longer: it takes requests of 1.5 MiB, and pages are bounded by what is asked for. */
const LONGEST_ANSWER = 2 ** 28;
const PREFIX_BYTES = 5;

export interface GrpcOptions {
  endpoints: readonly Endpoint[];
  tls: TlsFiles | undefined;
}

/**
 * Unary gRPC calls over Node's own HTTP/2 (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md): all that etcd's Auth, KV and
 * Lease services need. One connection, dialled when it is needed and again after it broke.
 */
export class GrpcConnection {
  readonly #options: GrpcOptions;
  #session: { http: ClientHttp2Session; on: string } | undefined;

  constructor(options: GrpcOptions) {
    this.#options = options;
  }

  /** Calls `/service/method`. Rejects with a `GrpcError`, or a `Fault` where the server is not reached or gives no answer in time. */
  async call(
    path: string,
    body: Uint8Array,
    metadata: Record<string, string>,
    limits: Omit<Limits, "on">,
  ): Promise<Uint8Array> {
    const { http, on } = await this.#dial(limits);
    return within({ ...limits, on }, (signal) => unary(http, on, { path, body, metadata, signal })).catch((error) => {
      // What was left without an answer may be left without one again: the next call takes another connection.
      if (!(error instanceof GrpcError)) http.destroy();
      throw error;
    });
  }

  close(): void {
    this.#session?.http.destroy();
    this.#session = undefined;
  }

  async #dial(limits: Omit<Limits, "on">): Promise<{ http: ClientHttp2Session; on: string }> {
    const there = this.#session;
    if (there !== undefined && !there.http.closed && !there.http.destroyed) return there;
    const session = await firstReached(this.#options.endpoints, async (endpoint) => {
      const on = `etcd ${endpoint.text}`;
      const explain = (error: unknown): unknown => networkFault(error, on) ?? error;
      const http = await within({ ...limits, on, explain }, (signal) => open(endpoint, this.#options.tls, signal));
      return { http, on };
    });
    this.#session = session;
    return session;
  }
}

function open(endpoint: Endpoint, tls: TlsFiles | undefined, signal: AbortSignal): Promise<ClientHttp2Session> {
  const scheme = endpoint.scheme ?? (tls === undefined ? "http" : "https");
  return new Promise((resolve, reject) => {
    const { socket } = endpoint;
    const http =
      socket === undefined
        ? connect(`${scheme}://${endpoint.text}`, { ...tls })
        : connect("http://localhost", { createConnection: () => connectSocket(socket) });
    signal.addEventListener("abort", () => http.destroy(), { once: true });
    // Errors of an idle connection end it; the next call dials again.
    http.on("error", reject);
    http.once("connect", () => (signal.aborted ? http.destroy() : resolve(http)));
    http.once("close", () => reject(Object.assign(new Error("closed"), { code: "ECONNRESET" })));
  });
}

interface Call {
  path: string;
  body: Uint8Array;
  metadata: Record<string, string>;
  signal: AbortSignal;
}

function unary(http: ClientHttp2Session, on: string, { path, body, metadata, signal }: Call): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const stream = http.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...metadata,
    });
    const chunks: Buffer[] = [];
    let length = 0;
    let head: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    signal.addEventListener("abort", () => stream.close(constants.NGHTTP2_CANCEL), { once: true });
    stream.on("response", (headers) => (head = headers));
    stream.on("trailers", (headers) => (trailers = headers));
    stream.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > LONGEST_ANSWER)
        stream.destroy(new Fault("TooLarge", on, `its answer has over ${LONGEST_ANSWER} bytes`));
    });
    stream.on("error", (error) => reject(networkFault(error, on) ?? broken(on, error)));
    // An answer without a body has its status in the head ("trailers-only").
    stream.on("close", () => {
      const status = trailers["grpc-status"] ?? head["grpc-status"];
      if (status === undefined) return reject(broken(on, undefined));
      if (status !== "0")
        return reject(new GrpcError(Number(status), statusText(trailers["grpc-message"] ?? head["grpc-message"])));
      resolve(Buffer.concat(chunks).subarray(PREFIX_BYTES));
    });
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.writeUInt32BE(body.length, 1);
    stream.end(Buffer.concat([prefix, body]));
  });
}

function broken(on: string, cause: unknown): Fault {
  return new Fault("Unavailable", on, "the connection broke", { remedy: "it is tried again", cause });
}

/** Percent-encoded by the protocol; a text that is not is taken as it is. */
function statusText(text: string | string[] | undefined): string {
  const one = String(text ?? "no reason given");
  try {
    return decodeURIComponent(one);
  } catch {
    return one;
  }
}
