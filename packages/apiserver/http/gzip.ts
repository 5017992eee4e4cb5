import { pipeline, type Writable } from "node:stream";
import { createGzip } from "node:zlib";
import { type FaceResponse, isHttp2 } from "./exchange.ts";

/** Which answers are compressed, and how: as kube-apiserver's response writers do. */

/** Shorter answers go as they are. Upstream wants more than this, and counts the line end that it writes behind each object. */
const LEAST_BYTES = 128 * 1024;
/** The least work, for nearly the same size. */
const LEVEL = 1;

/** Whether an `Accept-Encoding` header takes gzip. Upstream knows the bare word alone, without a weight. */
export function takesGzip(header = ""): boolean {
  return header.split(",").some((token) => token.trim() === "gzip");
}

/** Takes from an answer's pieces until it is known whether they are worth compressing. */
export function weigh(texts: Iterator<string, void>): { begun: string; isLong: boolean } {
  let begun = "";
  for (let next = texts.next(); next.done !== true; next = texts.next()) {
    begun += next.value;
    if (Buffer.byteLength(begun) >= LEAST_BYTES) return { begun, isLong: true };
  }
  return { begun, isLong: false };
}

/** The headers of an answer when it is compressed. */
export function gzipHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { vary = "" } = headers;
  const varies = /\baccept-encoding\b/i.test(vary) ? vary : [vary, "Accept-Encoding"].filter(Boolean).join(", ");
  return { ...headers, "content-encoding": "gzip", vary: varies };
}

/** What is written to it reaches the client compressed. It ends, and breaks, with the response. */
export function gzipInto(response: FaceResponse): Writable {
  const gzip = createGzip({ level: LEVEL });
  // When the client closes its connection, the response reports it.
  pipeline(gzip, isHttp2(response) ? response.stream : response, () => {});
  return gzip;
}
