/**
 * An OpenAPI v2 document as protobuf: the `Document` message of gnostic's openapi_v2 package. kubectl before 1.27 takes
 * no other form.
 *
 * Numbers are the fields' numbers in that package; vendor extensions travel as YAML (here: JSON) text.
 */

import { isRecord } from "../json/value.ts";
import { ProtobufWriter } from "./protobuf-writer.ts";

type Json = Record<string, unknown>;
type Write = (into: ProtobufWriter, value: Json) => void;

/** Encodes a Swagger 2.0 document such as `openApiV2` makes. */
export function encodeOpenApiV2(doc: object): Uint8Array {
  const source = doc as Json;
  const writer = new ProtobufWriter();
  writer.text(1, source.swagger);
  writer.message(2, source.info, info);
  writer.message(8, source.paths, paths);
  writer.message(9, source.definitions, namedSchemas);
  return writer.finish();
}

const info: Write = (w, v) => {
  w.text(1, v.title);
  w.text(2, v.version);
};

const paths: Write = (w, v) => {
  for (const [name, item] of Object.entries(v)) w.entry(2, name, item, pathItem);
};

const METHODS = { get: 2, put: 3, post: 4, delete: 5, patch: 8 } as const;

const pathItem: Write = (w, v) => {
  for (const [method, field] of Object.entries(METHODS)) w.message(field, v[method], operation);
  for (const each of listOf(v.parameters)) w.message(9, each, parameterItem);
  extensions(w, 10, v);
};

const operation: Write = (w, v) => {
  w.texts(1, v.tags);
  w.text(3, v.description);
  w.text(5, v.operationId);
  w.texts(6, v.produces);
  w.texts(7, v.consumes);
  for (const each of listOf(v.parameters)) w.message(8, each, parameterItem);
  w.message(9, v.responses, responses);
  extensions(w, 13, v);
};

// ParametersItem{1: Parameter{1: BodyParameter | 2: NonBodyParameter{3: query | 4: path}}}
const parameterItem: Write = (w, v) =>
  w.message(1, v, (parameter) => {
    if (v.in === "body") parameter.message(1, v, bodyParameter);
    else
      parameter.message(2, v, (other) =>
        v.in === "path" ? other.message(4, v, pathParameter) : other.message(3, v, queryParameter),
      );
  });

const bodyParameter: Write = (w, v) => {
  w.text(1, v.description);
  w.text(2, v.name);
  w.text(3, v.in);
  w.bool(4, v.required);
  w.message(5, v.schema, schema);
};

const pathParameter: Write = (w, v) => {
  w.bool(1, v.required);
  w.text(2, v.in);
  w.text(3, v.description);
  w.text(4, v.name);
  w.text(5, v.type);
  w.bool(18, v.uniqueItems);
};

const queryParameter: Write = (w, v) => {
  w.bool(1, v.required);
  w.text(2, v.in);
  w.text(3, v.description);
  w.text(4, v.name);
  w.text(6, v.type);
  w.bool(19, v.uniqueItems);
};

// Responses{1: NamedResponseValue{2: ResponseValue{1: Response{2: SchemaItem{1: Schema}}}}}
const responses: Write = (w, v) => {
  for (const [code, response] of Object.entries(v))
    w.entry(1, code, response, (value, r) =>
      value.message(1, r, (inner) => {
        inner.text(1, r.description);
        if (isRecord(r.schema)) inner.message(2, r, (item) => item.message(1, r.schema, schema));
      }),
    );
};

const namedSchemas: Write = (w, v) => {
  for (const [name, each] of Object.entries(v)) w.entry(1, name, each, schema);
};

const schema: Write = (w, v) => {
  w.text(1, v.$ref);
  w.text(2, v.format);
  w.text(3, v.title);
  w.text(4, v.description);
  anyValue(w, 5, v.default);
  w.double(6, v.multipleOf);
  w.double(7, v.maximum);
  w.bool(8, v.exclusiveMaximum);
  w.double(9, v.minimum);
  w.bool(10, v.exclusiveMinimum);
  w.int(11, v.maxLength);
  w.int(12, v.minLength);
  w.text(13, v.pattern);
  w.int(14, v.maxItems);
  w.int(15, v.minItems);
  w.int(17, v.maxProperties);
  w.int(18, v.minProperties);
  w.texts(19, v.required);
  for (const each of listOf(v.enum)) anyValue(w, 20, each);
  const { additionalProperties } = v;
  if (isRecord(additionalProperties)) w.message(21, v, (item) => item.message(1, additionalProperties, schema));
  else if (additionalProperties === true) w.message(21, v, (item) => item.bool(2, true));
  if (typeof v.type === "string") w.message(22, v, (types) => types.text(1, v.type));
  if (isRecord(v.items)) w.message(23, v, (items) => items.message(1, v.items, schema));
  w.message(25, v.properties, namedSchemas);
  extensions(w, 31, v);
};

function extensions(w: ProtobufWriter, field: number, of: Json): void {
  for (const [name, value] of Object.entries(of)) {
    if (!name.startsWith("x-")) continue;
    w.message(field, of, (named) => {
      named.text(1, name);
      anyValue(named, 2, value);
    });
  }
}

/** `Any{2: yaml}`. */
function anyValue(w: ProtobufWriter, field: number, value: unknown): void {
  if (value !== undefined) w.message(field, {}, (any) => any.text(2, `${JSON.stringify(value)}\n`));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
