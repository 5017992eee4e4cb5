/**
 * HTTP as a port: one request, one answer, both small enough to hold. Machine providers, BMCs and boot
 * servers are spoken to through it, so a simulation can stand where the socket was.
 */
export interface HttpRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD";
  url: string;
  /** Lower-case names. */
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** The whole exchange, connecting included. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  /** Lower-case names; repeated headers joined by ", ". */
  headers: Readonly<Record<string, string>>;
  body: string;
}

/**
 * Resolves with whatever the server answered, error statuses included. Rejects with a `Fault`:
 * `Unavailable` when the request surely did not reach the server (refused, unresolved, TLS), `LostAnswer` when it may have had its effect.
 */
export type Http = (request: HttpRequest) => Promise<HttpAnswer>;

/** Who shows a client certificate that the server's authority signed. */
export interface TlsPeer {
  commonName: string;
  /** SHA-256 of the certificate, in hexadecimal digits. */
  fingerprint: string;
}

/** What a server's side of the port does. `remote` is the peer's address as the transport saw it. `peer`: of servers that demand a certificate. */
export type HttpHandler = (request: HttpRequest & { remote: string; peer?: TlsPeer }) => Promise<HttpAnswer>;

export const DEFAULT_TIMEOUT_MS = 30_000;

/** An answer with a JSON body. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): HttpAnswer {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(body),
  };
}

/** An answer with a plain text body. */
export function plain(status: number, body: string, headers: Record<string, string> = {}): HttpAnswer {
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers }, body };
}
