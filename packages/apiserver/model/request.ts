import type { WatchEvent } from "@slipway/kube";

/** Who asks. Made by the authenticator, read by the authorizer and by SelfSubjectReview. */
export interface User {
  name: string;
  groups: readonly string[];
  uid?: string;
  extra?: Readonly<Record<string, readonly string[]>>;
}

/** One request, free of sockets. */
export interface ServerRequest {
  method: string;
  /** Path below the root, as it stood in the URL (percent-encoded). */
  path: string;
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  /** Text to be decoded by the content type, or a JSON value that the server may keep. */
  body?: unknown;
  /** In place of `body`: it is still with the client, and read when the request is permitted. */
  pending?: PendingBody;
  /** Called when the request's credentials are valid. */
  recognized?: () => void;
  /** Known from the connection (client certificate, in-process caller); unset: the headers are asked. */
  user?: User;
  /** The connection brought a client certificate that nobody vouches for. */
  badCertificate?: boolean;
  signal?: AbortSignal;
  /** Texts for `Warning` headers, which a refusal carries too; the server gives the list and reads it. */
  warnings?: string[];
}

/** A body that has not been read yet. */
export interface PendingBody {
  /**
   * Reads it, once: text, or bytes where it is protobuf. `take` is called with the number of bytes before they are kept, and throws when they may not be.
   * Rejects with that, with TooLarge, and with Timeout when the client is too slow.
   */
  read(take: (bytes: number) => void): Promise<string | Uint8Array>;
}

export interface PlainAnswer {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  /** A JSON value, a text, or bytes. Shared with others: read-only. */
  body: unknown;
}

export interface StreamAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Ends by itself when the watch ends; leaving it early closes the watch. Event objects are shared between watchers. */
  stream: AsyncIterable<WatchEvent>;
}

export type ServerAnswer = PlainAnswer | StreamAnswer;
