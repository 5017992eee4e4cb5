/** A machine that is reached by SSH, as a map needs it. */
import type { Writable } from "node:stream";
import type { Ended } from "./child.ts";

export interface Run {
  sudo?: string;
  input?: AsyncIterable<Buffer> | Iterable<Buffer>;
  output?: Writable;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface Shell {
  /** Resolves with how the command ended. Rejects with a `Fault`: `Timeout`, `LostAnswer` when the connection broke. */
  run(command: string, how: Run): Promise<Ended>;
  close(): Promise<void>;
}

/** Connects. Rejects with a `Fault`: `Unavailable`, `BadCredentials`, `UntrustedCertificate` for a host key that is not the recorded one. */
export type OpenShell = (host: string, signal: AbortSignal) => Promise<Shell>;
