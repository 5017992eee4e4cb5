import type { Writable } from "node:stream";
import type { WatchEvent } from "@slipway/kube";
import { nextTurn } from "../json/turns.ts";
import type { PlainAnswer, StreamAnswer } from "../model/request.ts";
import { type TextForm, textsOf } from "./answer-text.ts";
import { breakOff, type FaceRequest, type FaceResponse, isHttp2, onStall, sendHead } from "./exchange.ts";
import { gzipHeaders, gzipInto, takesGzip, weigh } from "./gzip.ts";
import type { ItemTexts } from "./item-texts.ts";

/** After so many letters others have their turn. A socket that takes all at once would never let them. */
const CHARS_AT_ONCE = 128 * 1024;

/** Sends an answer. A reader that takes nothing for `stalledMs` is cut off. `itemTexts`: what the lists before had. */
export async function sendPlain(
  req: FaceRequest,
  res: FaceResponse,
  answer: PlainAnswer,
  { stalledMs, itemTexts }: { stalledMs: number; itemTexts?: ItemTexts },
): Promise<void> {
  const { body, status, headers } = answer;
  const isEmpty = req.method === "HEAD" || status === 304;
  if (isEmpty || typeof body === "string" || body instanceof Uint8Array) {
    sendHead(res, status, headers);
    return void (isEmpty ? res.end() : res.end(bytesOf(body as string | Uint8Array)));
  }
  const texts = textsOf(body, formOf(req, answer), itemTexts);
  const { begun, isLong } = weigh(texts);
  if (!isLong) {
    const bytes = bytesOf(begun);
    sendHead(res, status, { ...headers, "content-length": `${bytes.length}` });
    await write(res, bytes, stalledMs);
    return void res.end();
  }
  const gzips = takesGzip(req.headers["accept-encoding"]);
  sendHead(res, status, gzips ? gzipHeaders(headers) : headers);
  const out = gzips ? gzipInto(res) : (res as Writable);
  await write(res, begun, stalledMs, out);
  for (const text of texts) {
    await nextTurn();
    await write(res, text, stalledMs, out);
    if (res.destroyed) return;
  }
  out.end();
}

/** Node sends a text together with the head, and in the text's encoding: letters beyond ASCII in a header would be encoded twice. */
function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? Buffer.from(body) : body;
}

function formOf(req: FaceRequest, { headers }: PlainAnswer): TextForm {
  if (headers["content-type"]?.startsWith("application/yaml")) return "yaml";
  return wantsIndent(req) ? "indented" : "json";
}

/** People read what they ask for with these tools; a request may also say it (`?pretty=true`, `?pretty=false`). */
function wantsIndent({ url = "", headers }: FaceRequest): boolean {
  const asked = /[?&]pretty=([^&]+)/.exec(url)?.[1];
  if (asked !== undefined) return /^(1|t|true)$/i.test(asked);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(headers["user-agent"] ?? "");
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
  let chars = 0;
  for await (const event of stream) {
    let line = lines.get(event);
    if (line === undefined) {
      line = `${JSON.stringify(event)}\n`;
      lines.set(event, line);
    }
    await write(res, line, stalledMs);
    chars += line.length;
    if (chars > CHARS_AT_ONCE) {
      chars = 0;
      await nextTurn();
    }
    if (res.destroyed) break;
  }
  res.end();
}

/** Writes to the response, or through `out` on the way there, and waits a bounded time for a reader that is behind. */
async function write(
  res: FaceResponse,
  text: string | Uint8Array,
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
