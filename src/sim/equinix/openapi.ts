/** For contract tests: holds requests and answers against an OpenAPI 3.0 document. Knows the keywords that the clouds' documents use. */

export type Schema = { readonly [keyword: string]: unknown };

interface Operation {
  operationId: string;
  parameters?: readonly Schema[];
  requestBody?: Schema;
  responses: Readonly<Record<string, Schema>>;
}

export interface OpenApi {
  /** The operation for a method and a path under the server's base path; undefined: the document has none. */
  operation(method: string, path: string): Operation | undefined;
  /** What is wrong with a request's query and body. */
  request(operation: Operation, query: URLSearchParams, body: unknown): string[];
  /** What is wrong with an answer. `body`: parsed, undefined when empty. */
  answer(operation: Operation, status: number, body: unknown): string[];
}

const METHODS = ["get", "put", "post", "delete", "patch"];

export function openApi(document: unknown): OpenApi {
  const root = document as Schema;
  const operations = Object.entries(root.paths as Record<string, Record<string, Operation>>).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => ({
      method,
      operation: item[method]!,
      // Literal paths win over those with parameters.
      parameters: path.split("{").length - 1,
      pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
    })),
  );
  operations.sort((a, b) => a.parameters - b.parameters);

  const resolve = (schema: Schema): Schema => {
    const reference = schema.$ref;
    if (typeof reference !== "string") return schema;
    const found = reference
      .slice(2)
      .split("/")
      .reduce<unknown>((at, name) => (at as Schema)[name], root);
    return resolve(found as Schema);
  };
  const checker = schemaChecker(resolve);

  return {
    operation: (method, path) =>
      operations.find((one) => one.method === method.toLowerCase() && one.pattern.test(path))?.operation,

    request(operation, query, body) {
      const known = (operation.parameters ?? []).map(resolve).filter((parameter) => parameter.in === "query");
      const unknown = [...query.keys()].filter((name) => !known.some((parameter) => parameter.name === name));
      const wrong = known.flatMap((parameter) => {
        const name = String(parameter.name);
        const text = query.get(name);
        if (text === null) return parameter.required === true ? [`query ${name}: required`] : [];
        const schema = resolve(parameter.schema as Schema);
        return checker(schema, fromText(text, schema), `query ${name}`, "strict");
      });
      const wanted = operation.requestBody && resolve(operation.requestBody);
      const missing = wanted?.required === true && body === undefined ? ["body: required"] : [];
      const unasked = wanted === undefined && body !== undefined ? ["body: none is taken"] : [];
      const content = body === undefined ? undefined : jsonSchema(wanted);
      const inBody = content === undefined ? [] : checker(content, body, "body", "strict");
      return [...unknown.map((name) => `query ${name}: unknown`), ...wrong, ...missing, ...unasked, ...inBody];
    },

    answer(operation, status, body) {
      const response = operation.responses[status];
      if (response === undefined) return [`status ${status}: not in the document`];
      const schema = jsonSchema(resolve(response));
      if (schema === undefined) return body === undefined ? [] : [`status ${status}: a body where none is documented`];
      return body === undefined ? [`status ${status}: no body`] : checker(schema, body, "answer", "lenient");
    },
  };
}

function jsonSchema(content: Schema | undefined): Schema | undefined {
  return (content?.content as Record<string, { schema?: Schema }> | undefined)?.["application/json"]?.schema;
}

function fromText(text: string, schema: Schema): unknown {
  if (schema.type === "array") return text.split(",");
  if (schema.type === "integer" || schema.type === "number") return Number(text);
  if (schema.type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  return text;
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
};

/** `strict`: properties that the schema does not name are wrong, as in what we send. */
type Strictness = "strict" | "lenient";
type Checker = (schema: Schema, value: unknown, at: string, how: Strictness) => string[];

function schemaChecker(resolve: (schema: Schema) => Schema): Checker {
  const check: Checker = (reference, value, at, how) => {
    const schema = resolve(reference);
    const parts = (schema.allOf ?? []) as readonly Schema[];
    const alternatives = (schema.oneOf ?? schema.anyOf) as readonly Schema[] | undefined;
    const fits = (one: Schema): boolean => check(one, value, at, "lenient").length === 0;
    return [
      ...parts.flatMap((part) => check(part, value, at, "lenient")),
      ...(alternatives === undefined || alternatives.some(fits) ? [] : [`${at}: fits no alternative`]),
      ...plainErrors(schema, value, at, how),
      ...(how === "strict" && isObject(value) ? strangers(schema, value, at) : []),
    ];
  };

  const plainErrors = (schema: Schema, value: unknown, at: string, how: Strictness): string[] => {
    const { type, enum: allowed, format, minimum, maximum } = schema;
    if (typeof type === "string" && !hasType(type, value)) return [`${at}: not of type ${type}`];
    const errors: string[] = [];
    if (Array.isArray(allowed) && !allowed.includes(value)) errors.push(`${at}: ${String(value)} is not in its enum`);
    if (typeof value === "string" && typeof format === "string" && FORMATS[format]?.test(value) === false) {
      errors.push(`${at}: not a ${format}`);
    }
    if (typeof value === "number" && (value < Number(minimum ?? value) || value > Number(maximum ?? value))) {
      errors.push(`${at}: out of range`);
    }
    if (Array.isArray(value) && isObject(schema.items)) {
      for (const [i, item] of value.entries()) errors.push(...check(schema.items, item, `${at}[${i}]`, how));
    }
    if (isObject(value)) {
      const required = (schema.required ?? []) as readonly string[];
      for (const name of required) if (value[name] === undefined) errors.push(`${at}.${name}: required`);
      for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, Schema>)) {
        if (value[name] !== undefined) errors.push(...check(property, value[name], `${at}.${name}`, how));
      }
    }
    return errors;
  };

  /** A reference that was asked to be included holds more than its `href`, so closed objects of answers are not held to be closed. */
  const strangers = (schema: Schema, value: Schema, at: string): string[] => {
    const names = namesOf(schema);
    if (names.size === 0 || schema.additionalProperties === true) return [];
    return Object.keys(value)
      .filter((name) => !names.has(name))
      .map((name) => `${at}.${name}: unknown`);
  };

  const namesOf = (reference: Schema): Set<string> => {
    const schema = resolve(reference);
    const nested = [schema.allOf, schema.oneOf, schema.anyOf].flatMap((list) => (list ?? []) as Schema[]);
    return new Set([
      ...Object.keys((schema.properties ?? {}) as object),
      ...nested.flatMap((one) => [...namesOf(one)]),
    ]);
  };

  return check;
}

function hasType(type: string, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
