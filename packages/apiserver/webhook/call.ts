/**
 * One call of a webhook: JSON there, JSON back. What goes wrong is said in the words of kube-apiserver's HTTP client,
 * since people search for these texts.
 */
import { isIP } from "node:net";
import { type Clock, deadline, Fault } from "@slipway/base";
import { isRecord } from "../json/value.ts";
import type { Store } from "../storage/store.ts";
import { CallFailed, readAnswer } from "./answer.ts";
import type { WebhookHttp } from "./http.ts";
import { type ClientConfig, targetOf } from "./target.ts";

/** What a call needs of the server. */
export interface Callers {
  clock: Clock;
  store: Store;
  http: WebhookHttp;
}

/** A webhook as far as calls need to know it. */
export interface Called {
  clientConfig: ClientConfig;
  timeoutSeconds: number;
}

/** Posts `body` and gives the object that comes back. Rejects with `CallFailed`. */
export async function callWebhook(
  { clock, store, http }: Callers,
  { clientConfig, timeoutSeconds }: Called,
  body: { kind: string; apiVersion: string },
  parent: AbortSignal | undefined,
): Promise<Record<string, unknown>> {
  const target = targetOf(store, clientConfig);
  const query = `?timeout=${timeoutSeconds}s`;
  const failed = (why: string) => new CallFailed(`Post "${target.url}${query}": ${why}`);
  if ("unreachable" in target) throw failed(target.unreachable);
  const { calledUrl, address, ca } = target;
  const limit = deadline(clock, timeoutSeconds * 1000, parent);
  const gaveUp = Promise.withResolvers<never>();
  const onAbort = (): void => gaveUp.reject(limit.signal.reason);
  limit.signal.addEventListener("abort", onAbort, { once: true });
  if (limit.signal.aborted) onAbort();
  try {
    const post = {
      url: calledUrl + query,
      ca,
      address,
      body: JSON.stringify(body),
      timeoutMs: timeoutSeconds * 1000,
      signal: limit.signal,
    };
    return readAnswer(await Promise.race([http.post(post), gaveUp.promise]), body);
  } catch (error) {
    throw error instanceof CallFailed ? error : failed(reasonOf(error, new URL(calledUrl), address));
  } finally {
    limit.signal.removeEventListener("abort", onAbort);
    limit.done();
  }
}

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

function reasonOf(error: unknown, url: URL, address: string | undefined): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = "code" in cause ? String(cause.code) : "";
    if (cause.name === "TimeoutError") return "context deadline exceeded";
    if (cause.name === "AbortError") return "context canceled";
    if (code === "ECONNREFUSED")
      return `dial tcp ${address ?? url.hostname}:${url.port || "443"}: connect: connection refused`;
    if (code === "ENOTFOUND") return `dial tcp: lookup ${url.hostname}: no such host`;
    if (code === "ECONNRESET" || code === "UND_ERR_SOCKET") return "EOF";
    if (UNKNOWN_AUTHORITY.has(code))
      return "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return otherName(cause, url.hostname);
    if (code === "CERT_HAS_EXPIRED")
      return "tls: failed to verify certificate: x509: certificate has expired or is not yet valid";
  }
  return error instanceof Fault || error instanceof Error ? error.message : String(error);
}

function otherName(cause: Error, host: string): string {
  const names = "cert" in cause && isRecord(cause.cert) ? String(cause.cert.subjectaltname ?? "") : "";
  const isAddress = isIP(host.replace(/^\[|\]$/g, "")) !== 0;
  const sort = isAddress ? "IP Address:" : "DNS:";
  const valid = names.split(", ").flatMap((name) => (name.startsWith(sort) ? [name.slice(sort.length)] : []));
  const why =
    valid.length > 0
      ? `certificate is valid for ${valid.join(", ")}, not ${host}`
      : isAddress
        ? `cannot validate certificate for ${host} because it doesn't contain any IP SANs`
        : `certificate is not valid for any names, but wanted to match ${host}`;
  return `tls: failed to verify certificate: x509: ${why}`;
}
