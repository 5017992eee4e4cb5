/**
 * For tests only: holds what a driver sends, and what a simulated cloud answers, against the cloud's OpenAPI 3.0 document.
 *
 * The documents are not part of the project. They are looked for in `../shared/reference/data/openapi`, or under
 * `data/openapi` of the directory that SLIPWAY_REFERENCE names; a test whose document is absent skips and says so.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HttpAnswer, HttpRequest } from "@slipway/base";
import { load } from "js-yaml";
import { problemsOf, type Schema } from "./schema-check.ts";

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  schema?: Schema;
}

interface Content {
  $ref?: string;
  content?: Readonly<Record<string, { schema?: Schema }>>;
  required?: boolean;
}

interface Operation {
  operationId?: string;
  parameters?: readonly Parameter[];
  requestBody?: Content;
  responses?: Readonly<Record<string, Content>>;
}

interface Document {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>> & { parameters?: readonly Parameter[] }>>;
}

/** Each method returns what is wrong, and nothing when all is well. */
export interface Contract {
  /** Path, query names and values, and body; fields that the document does not name are problems. */
  request(request: HttpRequest): string[];
  /** The status must be documented unless it is an error; the body must fit its schema. */
  answer(request: HttpRequest, answer: HttpAnswer): string[];
}

const REFERENCE = process.env.SLIPWAY_REFERENCE ?? join(import.meta.dirname, "../../../../shared/reference");

/** The file of a document, such as `latitude.yaml`, and whether it is there: the reason to skip when it is not. */
export function documentFile(name: string): { file: string; skip: string | false } {
  const file = join(REFERENCE, "data/openapi", name);
  return {
    file,
    skip: existsSync(file) ? false : `the OpenAPI document ${name} is not at hand (set SLIPWAY_REFERENCE)`,
  };
}

/** Reads a document. `basePath`: what stands before its paths in a URL, such as `/metal/v1`. */
export function openContract(file: string, basePath = ""): Contract {
  const document = load(readFileSync(file, "utf8")) as Document;
  const resolve = <T>(ref: string): T => {
    if (!ref.startsWith("#/")) throw new RangeError(`reference outside the document: ${ref}`);
    let at: unknown = document;
    for (const part of ref.slice(2).split("/")) {
      at = (at as Record<string, unknown>)[decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")];
    }
    if (at === undefined) throw new RangeError(`reference to nothing: ${ref}`);
    return at as T;
  };
  const whole = <T extends { $ref?: string }>(one: T): T => (one.$ref === undefined ? one : resolve<T>(one.$ref));
  const templates = Object.keys(document.paths).map((path) => ({ path, parts: path.split("/") }));

  const find = (request: HttpRequest): { operation: Operation; parameters: Parameter[] } | undefined => {
    const parts = new URL(request.url).pathname.replace(basePath, "").split("/");
    const fitting = templates.filter((template) => fits(template.parts, parts));
    // A fixed word is a closer fit than a parameter.
    fitting.sort((a, b) => a.path.split("{").length - b.path.split("{").length);
    const item = fitting[0] && document.paths[fitting[0].path];
    const operation = item?.[request.method.toLowerCase()];
    if (item === undefined || operation === undefined) return undefined;
    return { operation, parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(whole) };
  };

  return {
    request(request) {
      const found = find(request);
      const where = `${request.method} ${new URL(request.url).pathname}`;
      if (found === undefined) return [`${where}: not in the document`];
      const problems = queryProblems(request, found.parameters, resolve);
      const wanted = found.operation.requestBody && whole(found.operation.requestBody);
      const schema = schemaOf(wanted);
      if (request.body === undefined) {
        if (wanted?.required === true) problems.push("body: missing");
      } else if (schema === undefined) problems.push("body: the document has none");
      else problems.push(...problemsOf(JSON.parse(request.body), schema, { resolve, strict: true }));
      return problems.map((problem) => `${where}: ${problem}`);
    },
    answer(request, answer) {
      const found = find(request);
      const where = `${request.method} ${new URL(request.url).pathname} → ${answer.status}`;
      if (found === undefined) return [`${where}: not in the document`];
      const documented = found.operation.responses?.[String(answer.status)];
      // Documents name few of their errors; those they don't are only held to be JSON.
      if (documented === undefined) return answer.status >= 400 ? [] : [`${where}: this status is not in the document`];
      const schema = schemaOf(whole(documented));
      if (schema === undefined || answer.body === "") return [];
      const problems = problemsOf(JSON.parse(answer.body), schema, { resolve, strict: false });
      return problems.map((problem) => `${where}: ${problem}`);
    },
  };
}

function fits(template: readonly string[], path: readonly string[]): boolean {
  return template.length === path.length && template.every((part, i) => part.startsWith("{") || part === path[i]);
}

function queryProblems(
  request: HttpRequest,
  parameters: readonly Parameter[],
  resolve: <T>(ref: string) => T,
): string[] {
  const sent = new URL(request.url).searchParams;
  const known = parameters.filter((one) => one.in === "query");
  const out = known
    .filter(({ name, required }) => required === true && !sent.has(name))
    .map(({ name }) => `query ${name}: missing`);
  for (const [name, text] of sent) {
    const parameter = known.find((one) => one.name === name || one.name === `${name}[]`);
    if (parameter === undefined) out.push(`query ${name}: not in the document`);
    else if (parameter.schema !== undefined) {
      const schema = parameter.schema.$ref === undefined ? parameter.schema : resolve<Schema>(parameter.schema.$ref);
      out.push(...problemsOf(typed(text, schema), schema, { resolve, strict: false }, `query ${name}`));
    }
  }
  return out;
}

/** A query's text as the type its schema wants. */
function typed(text: string, schema: Schema): unknown {
  if (schema.type === "array") return text.split(",");
  if (schema.type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if (schema.type === "integer" || schema.type === "number") return text.trim() === "" ? text : Number(text);
  return text;
}

function schemaOf(content: Content | undefined): Schema | undefined {
  return Object.values(content?.content ?? {}).find((media) => media.schema !== undefined)?.schema;
}
