import {
  BOOL,
  BYTES,
  type Declared,
  DOUBLE,
  DURATION,
  DYN,
  escapeField,
  INT,
  isReachable,
  listOf,
  mapOf,
  STRING,
  TIMESTAMP,
  type Type,
} from "@slipway/cel";
import type { Node } from "../node.ts";

const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

const declare = (type: Type, max: number, smallest: number): Declared => ({ type, max, smallest });
const TEXT = declare(STRING, MAX_REQUEST_BYTES - 2, 2);

/**
 * The declaration of a schema; undefined where it has no type that expressions know. `whole`: a Kubernetes object, of whose
 * metadata only the names are to be seen. `name`: what messages call an object; its parts are named by their place in it.
 */
export function declared(node: Node, whole = node.embedded, name = "selfType"): Declared | undefined {
  const { type, maxLength, format } = node.schema;
  if (node.intOrString) return declare(DYN, maxLength === undefined ? TEXT.max : 4 * maxLength, 1);
  switch (type) {
    case "boolean":
      return declare(BOOL, 0, 4);
    case "integer":
      return declare(INT, 0, 1);
    case "number":
      return declare(DOUBLE, 0, 1);
    case "string":
      switch (format) {
        case "byte":
          return declare(BYTES, maxLength ?? TEXT.max, 2);
        case "duration":
          return declare(DURATION, 32, 3);
        case "date":
          return declare(TIMESTAMP, 12, 12);
        case "date-time":
          return declare(TIMESTAMP, 32, 21);
        default:
          return declare(STRING, maxLength === undefined ? longest(node) : 4 * maxLength, 2);
      }
    case "array":
      return declaredList(node, name);
    case "object":
      return typeof node.additional === "object"
        ? declaredMap(node, node.additional, name)
        : declaredObject(node, whole, name);
    default:
      return undefined;
  }
}

function longest(node: Node): number {
  const texts = node.schema.enum?.filter((value): value is string => typeof value === "string") ?? [];
  return texts.length === 0 ? TEXT.max : Math.max(...texts.map((text) => Buffer.byteLength(text)));
}

function declaredList(node: Node, name: string): Declared | undefined {
  const item = node.items && declared(node.items, undefined, `${name}.@idx`);
  if (item === undefined) return undefined;
  const max = node.schema.maxItems ?? Math.floor((MAX_REQUEST_BYTES - 2) / (item.smallest + 1));
  return { type: listOf(item.type), max, smallest: 2, item };
}

function declaredMap(node: Node, values: Node, name: string): Declared | undefined {
  const item = declared(values, undefined, `${name}.@elem`);
  if (item === undefined) return undefined;
  const max = node.schema.maxProperties ?? Math.floor((MAX_REQUEST_BYTES - 2) / (item.smallest + 6));
  return { type: mapOf(STRING, item.type), max, smallest: 2, item, key: { type: STRING, max: 0, smallest: 2 } };
}

function declaredObject(node: Node, whole: boolean, name: string): Declared {
  const fields = new Map<string, Declared>();
  let smallest = 2;
  for (const [key, child] of node.properties) {
    const field = declared(child, undefined, `${name}.${escapeField(key)}`);
    if (field === undefined) continue;
    if (isReachable(key)) fields.set(escapeField(key), field);
    if (node.required.includes(key) && child.schema.default === undefined) smallest += key.length + field.smallest + 4;
  }
  if (whole) {
    fields.set("apiVersion", TEXT);
    fields.set("kind", TEXT);
    const names = new Map([
      ["name", TEXT],
      ["generateName", TEXT],
    ]);
    fields.set("metadata", objectOf(`${name}.metadata`, names, 2));
  }
  return objectOf(name, fields, smallest);
}

function objectOf(name: string, fields: ReadonlyMap<string, Declared>, smallest: number): Declared {
  const made: { type: Type } & Declared = { type: DYN, max: 0, smallest, fields };
  made.type = { kind: "object", name, of: [], declared: made };
  return made;
}

/** How many values of a schema a request can hold at all. */
export function mostInRequest({ smallest }: Declared): number {
  return Math.floor(MAX_REQUEST_BYTES / (smallest + 1));
}
