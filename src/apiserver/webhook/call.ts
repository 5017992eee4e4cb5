/**
 * One call of a webhook: JSON there, JSON back. What goes wrong is told in the words of kube-apiserver's HTTP client,
 * since people search for these texts.
 */
import { isIP } from "node:net";
import { load } from "js-yaml";
import { type Clock, deadline } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";
import type { HttpAnswer } from "../../base/http.ts";
import { isRecord } from "../json-value.ts";
import type { Store } from "../storage/store.ts";
import type { WebhookHttp } from "./http.ts";
import { type ClientConfig, targetOf } from "./target.ts";

/** What a call needs of the server. */
export interface Callers {
  clock: Clock;
  store: Store;
  http: WebhookHttp;
}

/** Why a webhook gave no answer that can be read; the message is the text for the client. */
export class CallFailed extends Error {}

/** Posts `body` and gives the object that comes back. Rejects with `CallFailed`. */
export async function callWebhook(
  { clock, store, http }: Callers,
  config: ClientConfig,
  body: { kind: string; apiVersion: string },
  timeoutSeconds: number,
  parent: AbortSignal | undefined,
): Promise<Record<string, unknown>> {
  const target = targetOf(store, config);
  const query = `?timeout=${timeoutSeconds}s`;
  const failed = (why: string) => new CallFailed(`Post "${target.url}${query}": ${why}`);
  if ("unreachable" in target) throw failed(target.unreachable);
  const { calledUrl, address, ca } = target;
  const limit = deadline(clock, timeoutSeconds * 1000, parent);
  const gaveUp = Promise.withResolvers<never>();
  const onAbort = (): void => gaveUp.reject(limit.signal.reason);
  limit.signal.addEventListener("abort", onAbort, { once: true });
  try {
    const post = {
      url: calledUrl + query,
      ca,
      address,
      body: JSON.stringify(body),
      timeoutMs: timeoutSeconds * 1000,
      signal: limit.signal,
    };
    return decoded(await Promise.race([http.post(post), gaveUp.promise]), body);
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

function decoded(
  { status, headers, body }: HttpAnswer,
  sent: { kind: string; apiVersion: string },
): Record<string, unknown> {
  if (status < 200 || status > 206) throw new CallFailed(statusText(status, headers["content-type"], body));
  if (body === "")
    throw new CallFailed(
      `0-length response with status code: ${status} and content type: ${headers["content-type"] ?? "application/json"}`,
    );
  const value = parsed(body);
  if (!isRecord(value)) throw new CallFailed(`couldn't get version/kind; json parse error: ${wrongType(value)}`);
  const [kind, apiVersion] = [value.kind ?? "", value.apiVersion ?? ""];
  const group = sent.apiVersion.split("/")[0];
  const isKnown = kind === sent.kind && KNOWN_VERSIONS.some((version) => apiVersion === `${group}/${version}`);
  if (kind !== "" && apiVersion !== "" && !isKnown)
    throw new CallFailed(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  return value;
}

const KNOWN_VERSIONS = ["v1", "v1beta1"];

/** JSON, or YAML, which upstream takes as well. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // told by the next
  }
  try {
    return load(body);
  } catch (error) {
    throw new CallFailed(`couldn't get version/kind; json parse error: ${firstLine(error)}`);
  }
}

const firstLine = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split("\n")[0]!;

function wrongType(value: unknown): string {
  const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  return `json: cannot unmarshal ${type} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
}

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};
const MAX_QUOTED_BYTES = 2048;

function statusText(status: number, type: string | undefined, body: string): string {
  const told = statusIn(body);
  if (told !== undefined) return told;
  const said = type === undefined || type.startsWith("text/") ? body.slice(0, MAX_QUOTED_BYTES).trim() : "unknown";
  if (status === 403 || status === 415) return said;
  const known = STATUS_TEXT[status];
  if (known !== undefined) return known;
  return status >= 500
    ? `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`;
}

/** The message of a `Status` that the webhook answers instead of a review. */
function statusIn(body: string): string | undefined {
  try {
    const { kind, apiVersion, message } = JSON.parse(body) as Record<string, unknown>;
    return kind === "Status" && apiVersion === "v1" ? String(message ?? "") : undefined;
  } catch {
    return undefined;
  }
}
