import { load } from "js-yaml";
import { copyJson, TooManyValues, Unbounded } from "../json/value.ts";
import { MAX_BODY_BYTES, MAX_VALUES, tooLarge, tooManyValues } from "../model/body-limits.ts";
import { badRequest, refusal } from "../model/status.ts";

export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** The media type of a Content-Type or the empty text, parameters dropped. */
export function mediaType(header: string | undefined): string {
  return (header ?? "").split(";")[0]!.trim().toLowerCase();
}

/**
 * The JSON value of a request's body, owned by the request. A text is decoded by its media type; other values are copied.
 * Throws 400 for text that does not parse, 413 for what is too large, 415 for what is not spoken here (protobuf).
 */
export function decodeBody(body: unknown, contentType: string): unknown {
  if (body === undefined || body === "") return undefined;
  if (typeof body === "string" && body.length > MAX_BODY_BYTES) throw tooLarge();
  try {
    return typeof body === "string" ? copyJson(parse(body, contentType), MAX_VALUES) : copyJson(body);
  } catch (error) {
    throw ofBody(error);
  }
}

/** The refusal of a body whose value is beyond what is walked; other errors stay as they are. */
export function ofBody(error: unknown): unknown {
  if (error instanceof TooManyValues) return tooManyValues(MAX_VALUES + 1);
  return error instanceof Unbounded ? badRequest(`the body is ${error.message}`) : error;
}

function parse(text: string, contentType: string): unknown {
  const type = mediaType(contentType);
  if (type.includes("protobuf") || type === "application/cbor")
    throw unsupported(["application/json", "application/yaml"]);
  try {
    return type.endsWith("yaml") ? load(text) : JSON.parse(text);
  } catch (error) {
    throw badRequest(`error decoding the body as ${type.endsWith("yaml") ? "YAML" : "JSON"}: ${firstLine(error)}`);
  }
}

/** 415, with the types that would be taken. */
export function unsupported(types: readonly string[]) {
  return refusal(
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${types.join(", ")}`,
  );
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0]!;
}
