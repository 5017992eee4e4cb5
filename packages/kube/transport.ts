/**
 * The way to a Kubernetes API: HTTP to a real one (`http-transport.ts`), a direct call into the embedded one.
 * Bodies are JSON values. What comes back may be shared with others and is read-only.
 */
export interface ApiRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the server's root, query not included. */
  path: string;
  query?: Readonly<Record<string, string>>;
  /** Media type of the body; `application/json` unless said (patches say which kind). */
  contentType?: string;
  accept?: string;
  body?: unknown;
  signal?: AbortSignal;
}

export interface ApiAnswer {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  /** A JSON value; a string for text answers. */
  body: unknown;
}

export interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: unknown;
}

/** A watch in progress. Leaving the loop early or aborting the request's signal closes it. */
export type WatchStream = AsyncIterable<WatchEvent>;

export interface Transport {
  /** Resolves with any answered status. Rejects with a `Fault`: `Unavailable` (surely not sent), `LostAnswer` (may have had its effect), or the signal's reason. */
  request(request: ApiRequest): Promise<ApiAnswer>;
  /** Opens a watch. An error status comes back as the answer instead of a stream. Everything received before a close is delivered before the iteration ends. */
  watch(request: ApiRequest): Promise<WatchStream | ApiAnswer>;
  close(): Promise<void>;
}
