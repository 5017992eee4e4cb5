import { YAMLException } from "js-yaml";
import { measureJson } from "../json/measure.ts";
import { copyInTurns } from "../json/passes.ts";
import { MAX_JSON_DEPTH, syntaxErrorInPasses } from "../json/syntax.ts";
import { letOthersGo, noteSize, passesInTurns, type Sized } from "../json/turns.ts";
import { countKeys, MAX_LEVELS, TooManyValues, tooDeep } from "../json/value.ts";
import { MAX_VALUES, tooManyValues } from "../model/body-limits.ts";
import { duplicateFields } from "../model/duplicates.ts";
import type { ServerRequest } from "../model/request.ts";
import { badRequest } from "../model/status.ts";
import { protobufInPasses, TooMuchJson } from "../protobuf/decode.ts";
import { broken } from "../protobuf/encoding.ts";
import { decodeBody, mediaType, ofBody } from "./body.ts";
import { Unreadable } from "./head.ts";
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
 * A request's body, its texts read as upstream reads them. Others have their turn between the steps. Rejects with `Unreadable` for an object that
 * is no JSON or YAML, BadRequest for such a patch, and what `decodeBody` throws.
 */
export async function readBody({ method, body, headers }: ServerRequest): Promise<ReadBody> {
  if (method === "GET") return { value: undefined, duplicates: [] };
  const contentType = headers["content-type"] ?? "application/json";
  const type = mediaType(contentType);
  if (body instanceof Uint8Array) return await readProtobuf(body);
  const isText = typeof body === "string" && body.length <= MAX_READ_CHARS;
  const isObject = method === "POST" || method === "PUT";
  const isRead = isObject || method === "PATCH" || (method === "DELETE" && body !== "");
  if (!isText || !isRead) return { value: decodeBody(body, contentType), duplicates: [] };
  if (type.endsWith("yaml")) return await readYamlText(body, isObject);
  if (!type.endsWith("json")) return { value: decodeBody(body, contentType), duplicates: [] };
  return await readJsonText(body, (wrong) => {
    const unreadable = `couldn't get version/kind; json parse error: ${wrong}`;
    if (isObject) return new Unreadable(unreadable);
    if (method === "DELETE") return badRequest(unreadable);
    return badRequest(type === STRATEGIC ? wrong : `error decoding patch: ${wrong}`);
  });
}

/** `refuse` makes the refusal of what Go's decoder says is wrong with the text. */
async function readJsonText(text: string, refuse: (wrong: string) => Error): Promise<ReadBody> {
  const { values, keys, depth } = measureJson(text);
  const isTooDeep = depth > MAX_JSON_DEPTH;
  if (values > MAX_VALUES && !isTooDeep) throw tooManyValues(values);
  await letOthersGo({ text });
  const read = isTooDeep ? undefined : parsed(text);
  await letOthersGo({ text });
  if (read === undefined) {
    const wrong = await passesInTurns({ text }, syntaxErrorInPasses(text, MAX_JSON_DEPTH));
    throw refuse(wrong ?? "unexpected end of JSON input");
  }
  const { value } = read;
  // Reading is all that is done with what is nested so deep: nothing of it is walked.
  if (depth > MAX_LEVELS) throw ofBody(tooDeep());
  await letOthersGo({ text });
  const isUnique = keys === countKeys(value);
  const duplicates = isUnique ? [] : duplicateFields(text).map((path) => `duplicate field ${JSON.stringify(path)}`);
  await letOthersGo({ text });
  return { value: MAY_HAVE_PROTO.test(text) ? await copyInTurns({ text }, value) : value, duplicates };
}

/** A key that a copy leaves out may be there, be it written with an escape. */
const MAY_HAVE_PROTO = /__proto__|\\u005f/i;

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** What is shorter is read at once. */
const LONG_BYTES = 32 * 1024;

async function readProtobuf(bytes: Uint8Array): Promise<ReadBody> {
  try {
    const value = await passesInTurns({ isLong: bytes.length > LONG_BYTES }, protobufInPasses(bytes));
    const sized: Sized = {};
    noteSize(sized, value);
    await letOthersGo(sized);
    return { value: await copyInTurns(sized, value, MAX_VALUES), duplicates: [] };
  } catch (error) {
    throw ofBody(error instanceof TooMuchJson ? await whyUnread(error) : error);
  }
}

/** What JSON's own parser, which can't be interrupted, would have had to say of it, or what the walks behind it. */
async function whyUnread({ text, depth }: TooMuchJson): Promise<Error> {
  const wrong = await passesInTurns({ text }, syntaxErrorInPasses(text, Number.POSITIVE_INFINITY));
  if (wrong !== undefined) return broken();
  return depth > MAX_LEVELS ? tooDeep() : new TooManyValues(MAX_VALUES);
}

async function readYamlText(text: string, isObject: boolean): Promise<ReadBody> {
  try {
    const { value, twice, isJson } = await readYaml(text, () => letOthersGo({ text }));
    await letOthersGo({ text });
    const own = isJson ? value : await copyInTurns({ text }, value, MAX_VALUES);
    return { value: own, duplicates: twice === undefined ? [] : [twice] };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw ofBody(error);
    const wrong = `yaml: ${error.reason}`;
    throw isObject ? new Unreadable(wrong) : badRequest(`error decoding YAML: error converting YAML to JSON: ${wrong}`);
  }
}
