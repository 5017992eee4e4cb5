import type { Writable } from "node:stream";
import type { WatchEvent } from "@slipway/kube";
import { dump } from "js-yaml";
import { gzipHeaders, gzipInto, takesGzip, weigh } from "./gzip.ts";
import { breakOff, type FaceRequest, type FaceResponse, isHttp2, onStall, sendHead } from "./http-exchange.ts";
import { indentation } from "./indentation.ts";
import { isRecord } from "./json-value.ts";
import type { PlainAnswer, StreamAnswer } from "./request.ts";

/** Lists longer than this are turned into text piece by piece. */
const WHOLE_LIST = 200;
/** A piece of a long list ends with the object that makes it longer than this. */
const PIECE_CHARS = 256 * 1024;
/** Spaces for readers at most. Answers that need more are written without, lest a small object becomes more text than a string may hold. */
const MAX_INDENTATION = 16 * 1024 * 1024;
/** Levels that YAML indents where all would be too much. */
const FEW_LEVELS = 4;

/** Sends an answer. A reader that takes nothing for `stalledMs` is cut off. */
export async function sendPlain(
  req: FaceRequest,
  res: FaceResponse,
  answer: PlainAnswer,
  stalledMs: number,
): Promise<void> {
  const { body, status, headers } = answer;
  const isEmpty = req.method === "HEAD" || status === 304;
  if (isEmpty || typeof body === "string" || body instanceof Uint8Array) {
    sendHead(res, status, headers);
    return void (isEmpty ? res.end() : res.end(body as string | Uint8Array));
  }
  const texts = textsOf(req, answer);
  const { begun, isLong } = takesGzip(req.headers["accept-encoding"]) ? weigh(texts) : { begun: "", isLong: false };
  sendHead(res, status, isLong ? gzipHeaders(headers) : headers);
  const out = isLong ? gzipInto(res) : (res as Writable);
  if (begun !== "") await write(res, begun, stalledMs, out);
  for (const text of texts) {
    await write(res, text, stalledMs, out);
    if (res.destroyed) return;
  }
  out.end();
}

/** An answer's text: in one piece, but for long lists. */
function* textsOf(req: FaceRequest, { body, headers }: PlainAnswer): Generator<string, void> {
  if (headers["content-type"]?.startsWith("application/yaml")) return yield yaml(body);
  if (wantsIndent(req) && indentation(body, 2, MAX_INDENTATION) <= MAX_INDENTATION)
    return yield `${JSON.stringify(body, null, 2)}\n`;
  const items = isRecord(body) ? body.items : undefined;
  if (!Array.isArray(items) || items.length <= WHOLE_LIST) return yield JSON.stringify(body);
  const [head, tail] = JSON.stringify({ ...(body as object), items: [] }).split('"items":[]') as [string, string];
  let piece = `${head}"items":[`;
  for (const [at, item] of items.entries()) {
    piece += (at === 0 ? "" : ",") + JSON.stringify(item);
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = "";
  }
  yield `${piece}]${tail}`;
}

/** People read what they ask for with these tools; a request may also say it (`?pretty=true`, `?pretty=false`). */
function wantsIndent({ url = "", headers }: FaceRequest): boolean {
  const asked = /[?&]pretty=([^&]+)/.exec(url)?.[1];
  if (asked !== undefined) return /^(1|t|true)$/i.test(asked);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(headers["user-agent"] ?? "");
}

/** YAML as Kubernetes writes it: names in order, lists not indented. */
function yaml(body: unknown): string {
  const isTooDeep = indentation(body, 2, MAX_INDENTATION) > MAX_INDENTATION;
  const flowLevel = isTooDeep ? FEW_LEVELS : -1;
  return dump(body, {
    flowLevel,
    sortKeys: true,
    seqNoIndent: true,
    lineWidth: -1,
    noRefs: true,
    quoteStyle: "double",
  });
}

/** The text of an event, made once for all watches that show it. */
const lines = new WeakMap<WatchEvent, string>();

/** Sends a watch's events as they come, a line each. */
export async function sendStream(
  res: FaceResponse,
  { status, headers, stream }: StreamAnswer,
  stalledMs: number,
): Promise<void> {
  sendHead(res, status, headers);
  if (!isHttp2(res)) res.flushHeaders();
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

/** Writes to the response, or through `out` on the way there, and waits a bounded time for a reader that is behind. */
async function write(
  res: FaceResponse,
  text: string,
  stalledMs: number,
  out: Writable = res as Writable,
): Promise<void> {
  if (res.destroyed || out.write(text)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const attend = onStall(res, stalledMs, () => breakOff(res));
  out.once("drain", resolve);
  res.once("close", resolve);
  await promise;
  out.off("drain", resolve);
  res.off("close", resolve);
  attend();
}
