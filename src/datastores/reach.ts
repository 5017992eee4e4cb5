/** How a server is reached: endpoints in turn, each answer within its time, and what went wrong in words that say what to do. */
import { type Clock, deadline, Fault, isFault } from "@slipway/base";
import type { Endpoint } from "./endpoint.ts";

export const PATIENCE_MS = 20_000;

const ABSENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "EACCES",
]);
const BROKEN = new Set(["ECONNRESET", "EPIPE", "ERR_STREAM_DESTROYED", "ERR_STREAM_PREMATURE_CLOSE"]);
/** What OpenSSL and Node call a certificate that the authority did not sign, that is for another host or out of its time. */
const UNTRUSTED =
  /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_CERT_ALTNAME|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;
/** The server's own word on ours (alerts of RFC 8446 §6.2). */
const REFUSED = /^ERR_SSL_.*ALERT_(BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/;

/** An error of the network or of TLS as a fault on this endpoint; undefined: it is neither. */
export function networkFault(error: unknown, on: string): Fault | undefined {
  const { code = "", message = "" } = error as { code?: string; message?: string };
  const fault = (kind: Fault["code"], text: string, remedy: string): Fault =>
    new Fault(kind, on, text, { remedy, cause: error });
  if (ABSENT.has(code))
    return fault(
      "Unavailable",
      `not reached (${code})`,
      "start the server, or correct spec.endpoints of the DataStore",
    );
  if (BROKEN.has(code)) return fault("Unavailable", "the connection broke", "it is tried again");
  if (UNTRUSTED.test(code))
    return fault(
      "UntrustedCertificate",
      `its certificate is not trusted (${message})`,
      "put the authority that signed it into spec.tlsConfig.certificateAuthority, or correct the server's certificate",
    );
  if (REFUSED.test(code))
    return fault(
      "BadCredentials",
      `it refuses the client certificate (${code})`,
      "put a certificate that its authority signed into spec.tlsConfig.clientCertificate",
    );
  if (/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNSUPPORTED_PROTOCOL)/.test(code))
    return fault("Invalid", "it speaks no TLS there", "remove spec.tlsConfig, or switch TLS on at the server");
  if (/^ERR_(OSSL|SSL|CRYPTO)/.test(code))
    return fault("Invalid", `TLS fails (${message})`, "look at the certificates and keys in spec.tlsConfig");
  return undefined;
}

export interface Limits {
  clock: Clock;
  ms: number;
  signal: AbortSignal;
  /** Whom the answer is waited for. */
  on: string;
  /** The work's own errors as faults. */
  explain?: (error: unknown, on: string) => unknown;
}

/**
 * The work's result. Rejects with `Unavailable` when it takes longer, with the caller's reason when that gives up first; the work's signal
 * is aborted then, and it closes what it has open.
 */
export async function within<T>(limits: Limits, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, ms, on, explain = (error) => error } = limits;
  limits.signal.throwIfAborted();
  const { signal, done } = deadline(clock, ms, limits.signal);
  const { promise: over, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(signal), over]);
  } catch (error) {
    limits.signal.throwIfAborted();
    if (!signal.aborted) throw explain(error, on);
    throw new Fault("Unavailable", on, `no answer within ${ms} ms`, {
      remedy: "look at the server's load and at the network in between; it is tried again",
      cause: error,
    });
  } finally {
    done();
    signal.removeEventListener("abort", onAbort);
  }
}

/** What the first endpoint that can be reached gives. Rejects with the last one's fault, or at once with one that is of another kind. */
export async function firstReached<T>(
  endpoints: readonly Endpoint[],
  open: (endpoint: Endpoint) => Promise<T>,
): Promise<T> {
  let last: unknown;
  for (const endpoint of endpoints)
    try {
      return await open(endpoint);
    } catch (error) {
      if (!isFault(error, "Unavailable")) throw error;
      last = error;
    }
  throw last;
}
