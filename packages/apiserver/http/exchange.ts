import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";

/** A request as either version of HTTP brings it. */
export type FaceRequest = IncomingMessage | Http2ServerRequest;
export type FaceResponse = ServerResponse | Http2ServerResponse;

/** Whether a response goes over HTTP/2. */
export function isHttp2(response: FaceResponse): response is Http2ServerResponse {
  return response.req.httpVersionMajor === 2;
}

/** Breaks an answer off so that the client notices. */
export function breakOff(response: FaceResponse): void {
  if (isHttp2(response)) response.stream.close(constants.NGHTTP2_CANCEL);
  else response.destroy();
}

/** Sends the head of an answer. */
export function sendHead(response: FaceResponse, status: number, headers: Readonly<Record<string, string>>): void {
  if (isHttp2(response)) return void response.writeHead(status, headers);
  response.writeHead(status, headers);
}

/** Calls `fn` once the client has taken nothing for so long. Returns the way to stop. */
export function onStall(response: FaceResponse, ms: number, fn: () => void): () => void {
  // One stream of many may stand still while its connection does not.
  const watched = isHttp2(response) ? response.stream : response.socket;
  watched?.setTimeout(ms, fn);
  return () => {
    watched?.setTimeout(0);
    watched?.off("timeout", fn);
  };
}

/** Names in lower case. Impersonation's headers may be repeated and hold commas: their values stay apart, a line each. */
export function headersOf({ headers, rawHeaders }: FaceRequest): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    // HTTP/2 has the request line among its headers.
    if (value === undefined || name.startsWith(":")) continue;
    if (name.startsWith("impersonate-")) out[name] = valuesOf(rawHeaders, name).join("\n");
    else out[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return out;
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === name);
}
