import { YAMLException } from "js-yaml";
import { decodeBody, mediaType } from "./body.ts";
import { duplicateFields } from "./duplicates.ts";
import { jsonSyntaxError } from "./json-syntax.ts";
import { copyJson } from "./json-value.ts";
import type { ServerRequest } from "./request.ts";
import { badRequest } from "./status.ts";
import { Unreadable } from "./verbs/head.ts";
import { readYaml } from "./yaml-body.ts";

export interface ReadBody {
  value: unknown;
  /** What strict decoding minds about keys that stand twice, in its words. */
  duplicates: string[];
}

const STRATEGIC = "application/strategic-merge-patch+json";
/** Larger bodies are refused for their size, unread. */
const MAX_READ_CHARS = 3 * 1024 * 1024;

/**
 * A request's body, its texts read as upstream reads them. Throws `Unreadable` for an object that is no JSON or YAML, BadRequest for such a
 * patch, and what `decodeBody` throws.
 */
export function readBody({ method, body, headers }: ServerRequest): ReadBody {
  if (method === "GET") return { value: undefined, duplicates: [] };
  const contentType = headers["content-type"] ?? "application/json";
  const type = mediaType(contentType);
  const isText = typeof body === "string" && body.length <= MAX_READ_CHARS;
  const isObject = method === "POST" || method === "PUT";
  const isRead = isObject || method === "PATCH" || (method === "DELETE" && body !== "");
  if (!isText || !isRead) return { value: decodeBody(body, contentType), duplicates: [] };
  if (type.endsWith("yaml")) return readYamlText(body, isObject);
  if (!type.endsWith("json")) return { value: decodeBody(body, contentType), duplicates: [] };
  const wrong = jsonSyntaxError(body);
  if (wrong !== undefined) {
    const unreadable = `couldn't get version/kind; json parse error: ${wrong}`;
    if (isObject) throw new Unreadable(unreadable);
    if (method === "DELETE") throw badRequest(unreadable);
    throw badRequest(type === STRATEGIC ? wrong : `error decoding patch: ${wrong}`);
  }
  const duplicates = duplicateFields(body).map((path) => `duplicate field ${JSON.stringify(path)}`);
  return { value: decodeBody(body, "application/json"), duplicates };
}

function readYamlText(text: string, isObject: boolean): ReadBody {
  try {
    const { value, twice } = readYaml(text);
    return { value: copyJson(value), duplicates: twice === undefined ? [] : [twice] };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const wrong = `yaml: ${error.reason}`;
    throw isObject ? new Unreadable(wrong) : badRequest(`error decoding YAML: error converting YAML to JSON: ${wrong}`);
  }
}
