import { createHash, type Hash } from "node:crypto";
import { open } from "node:fs/promises";
import { Fault } from "@slipway/base";
import { type Checksum, compare } from "./checksum.ts";
import { HEAD_BYTES } from "./format.ts";

/** The beginning of a file on a web server, and what distinguishes this content from another. */
export interface Beginning {
  head: Uint8Array;
  /** Validators as the server gives them; the same content has the same. */
  version: string;
}

export type Fetch = typeof fetch;

/** Reads the first bytes behind a URL. Rejects with a `Fault` that names the URL without its user and query. */
export async function fetchHead(fetch: Fetch, url: string, signal?: AbortSignal): Promise<Beginning> {
  const response = await get(fetch, url, { range: `bytes=0-${HEAD_BYTES - 1}` }, signal);
  const parts: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop ends the transfer, where the server sends the whole.
  for await (const part of bodyOf(response, url)) {
    parts.push(part);
    size += part.length;
    if (size >= HEAD_BYTES) break;
  }
  const { headers } = response;
  const length = /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1] ?? headers.get("content-length");
  const version = [headers.get("etag"), headers.get("last-modified"), length].join(" ");
  return { head: Buffer.concat(parts).subarray(0, HEAD_BYTES), version };
}

/** Fetches a file to the disk and checks it. Rejects with a `Fault`: `Invalid` when it is another than the checksum says, or too long. */
export async function fetchTo(
  fetch: Fetch,
  url: string,
  { to, mostBytes, checksum, signal }: { to: string; mostBytes: number; checksum?: Checksum; signal?: AbortSignal },
): Promise<void> {
  const response = await get(fetch, url, {}, signal);
  const hash: Hash | undefined = checksum && createHash(checksum.type);
  const file = await open(to, "wx", 0o600);
  try {
    let size = 0;
    for await (const part of bodyOf(response, url)) {
      size += part.length;
      if (size > mostBytes) throw new Fault("Invalid", shown(url), `is longer than ${mostBytes} bytes`);
      hash?.update(part);
      await file.writeFile(part);
    }
  } finally {
    await file.close();
  }
  if (checksum !== undefined && hash !== undefined) compare(checksum, hash.digest("hex"), shown(url));
}

async function get(
  fetch: Fetch,
  url: string,
  headers: Record<string, string>,
  signal?: AbortSignal,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { headers: { "accept-encoding": "identity", ...headers }, ...(signal && { signal }) });
  } catch (cause) {
    throw new Fault("Unavailable", shown(url), `can't be fetched: ${whyOf(cause)}`, { cause });
  }
  if (response.ok) return response;
  await response.body?.cancel();
  throw new Fault(
    response.status < 500 ? "NotFound" : "Unavailable",
    shown(url),
    `the server answered ${response.status}`,
  );
}

/** The answer's bytes as they come. Leaving before the end ends the transfer. */
async function* bodyOf(response: Response, url: string): AsyncGenerator<Uint8Array> {
  try {
    yield* response.body ?? [];
  } catch (cause) {
    throw new Fault("Unavailable", shown(url), `broke off while it was fetched: ${whyOf(cause)}`, { cause });
  }
}

/** `fetch` itself says no more than that it failed; what happened is the cause. */
function whyOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

/** Users and queries of a URL may be secrets. */
export function shown(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? "image URL" : `${parsed.origin}${parsed.pathname}`;
}
