import type { HttpAnswer } from "@slipway/base";
import { load } from "js-yaml";
import { isRecord } from "../json/value.ts";

/** Why a webhook gave no answer that can be read; the message is the text for the client. */
export class CallFailed extends Error {}

/**
 * The object in a webhook's answer, if it is one of the kind that was sent, in whichever version. Throws `CallFailed` with the text that
 * kube-apiserver has for everything else.
 */
export function readAnswer(
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
  const own = statusIn(body);
  if (own !== undefined) return own;
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
