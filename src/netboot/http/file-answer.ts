/**
 * Files over HTTP, for firmware, GRUB and installers: GET and HEAD, ranges, validators, and memory that does not grow
 * with the file. It serves what its `FileSource` declares under `/`, and nothing else; its host decides what else
 * a server answers.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { TLSSocket } from "node:tls";
import { asFault, type Log, quietLog } from "@slipway/base";
import { fileName } from "../files/name.ts";
import { readAhead } from "../files/read-ahead.ts";
import type { FileSource, OpenFile } from "../files/source.ts";
import { CHUNK_BYTES, ChunkBuffers } from "./chunk-buffers.ts";
import { type Filling, pour } from "./pour.ts";
import { wanted } from "./range.ts";

/** By these UEFI knows what it was given (UEFI specification, HTTP Boot); for other names it looks at the name. */
const TYPES: Readonly<Record<string, string>> = {
  efi: "application/efi",
  iso: "application/vnd.efi-iso",
  img: "application/vnd.efi-img",
};

export interface FileAnswerPorts {
  log?: Log;
  buffers?: ChunkBuffers;
  /** Awaited before an answer with so many bytes begins. */
  prepare?: (request: IncomingMessage, bytes: number) => Promise<void>;
}

/**
 * Answers one request. Resolves when the answer has gone out or the client has closed the connection; a file that fails on the way ends the
 * connection, so that a part never passes for the whole, and is logged. Never rejects.
 */
export async function answerFile(
  files: FileSource,
  request: IncomingMessage,
  response: ServerResponse,
  { log = quietLog, buffers = new ChunkBuffers(), prepare }: FileAnswerPorts = {},
): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD")
    return refuse(response, 405, "method not allowed", { allow: "GET, HEAD" });
  const name = pathOf(request.url ?? "");
  if (name === undefined) return refuse(response, 404, "not found");
  let file: OpenFile | undefined;
  try {
    file = await files.open(name, { address: request.socket.remoteAddress ?? "" });
    if (file === undefined) refuse(response, 404, "not found");
    else await answerWith(file, name, { request, response, buffers, prepare });
  } catch (error) {
    // The path is left out: it may hold a capability.
    if (!isGone(error)) log.warn({ reason: asFault(error, "file").advice }, "a file could not be given");
    if (response.headersSent) response.destroy();
    else refuse(response, 500, "the file can't be given now");
  } finally {
    await file?.close().catch(() => {});
  }
}

async function answerWith(
  file: OpenFile,
  name: string,
  {
    request,
    response,
    buffers,
    prepare,
  }: {
    request: IncomingMessage;
    response: ServerResponse;
    buffers: ChunkBuffers;
    prepare: FileAnswerPorts["prepare"];
  },
): Promise<void> {
  const etag = `"${file.version}"`;
  const type = TYPES[name.slice(name.lastIndexOf(".") + 1).toLowerCase()] ?? "application/octet-stream";
  const ranges = file.sequential ? "none" : "bytes";
  const headers: OutgoingHttpHeaders = { etag, "accept-ranges": ranges, "content-type": type };
  if (names(request.headers["if-none-match"], etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  // RFC 9110 §13.1.5: the part of another content than the client's is of no use to it. A date is never ours.
  const ifRange = request.headers["if-range"];
  const isFor = ranges === "bytes" && request.method === "GET" && (ifRange === undefined || ifRange === etag);
  const asked = isFor ? request.headers.range : undefined;
  const part = wanted(asked, file.size);
  if (part.is === "beyond") return refuse(response, 416, "no such range", { "content-range": `bytes */${file.size}` });
  const [first, end] = part.is === "part" ? [part.first, part.last + 1] : [0, file.size];
  const place = part.is === "part" ? { "content-range": `bytes ${first}-${end - 1}/${file.size}` } : {};
  if (request.method === "GET") await prepare?.(request, end - first);
  // GRUB knows this name in this spelling only, and without the length it can't check a signed kernel.
  response.writeHead(part.is === "part" ? 206 : 200, { ...headers, ...place, "Content-Length": end - first });
  if (request.method === "HEAD") response.end();
  else if (isFilling(file)) {
    const isEncrypted = request.socket instanceof TLSSocket;
    await buffers.during((own) => pour(file, { first, end }, response, own), { isEncrypted });
  } else await pipeline(chunks(file, first, end), response);
}

function isFilling(file: OpenFile): file is Filling {
  return file.fill !== undefined;
}

async function* chunks(file: OpenFile, first: number, end: number): AsyncGenerator<Uint8Array> {
  const ahead = readAhead(file, CHUNK_BYTES);
  for (let at = first; at < end; ) {
    // Up to the next chunk's border: what is read is handed on as it is.
    const length = Math.min(CHUNK_BYTES - (at % CHUNK_BYTES), end - at);
    const bytes = await ahead.read(at, length);
    if (bytes.length !== length) throw new RangeError(`${bytes.length} of ${length} bytes at ${at}`);
    yield bytes;
    at += length;
  }
}

/** The file's name; a query is ignored. Undefined for what is no name. */
function pathOf(target: string): string | undefined {
  if (!target.startsWith("/")) return undefined;
  try {
    return fileName(decodeURIComponent(target.split("?", 1)[0]!));
  } catch {
    return undefined;
  }
}

/** Whether it was the client that ended the transfer. */
function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
}

/** Whether an If-None-Match names this version (weak comparison). */
function names(header: string | undefined, etag: string): boolean {
  return (header ?? "").split(",").some((item) => item.trim() === "*" || item.trim().replace(/^W\//, "") === etag);
}

function refuse(response: ServerResponse, status: number, why: string, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", ...headers }).end(`${why}\n`);
}
