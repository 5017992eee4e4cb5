/**
 * Reads the protobuf bodies that typed Go clients send, for the built-in kinds. Answers are JSON always. What is not in the table of types is
 * refused, never dropped: a field that is lost in silence is worse than an error.
 */
import { rfc3339, rfc3339Micro } from "@slipway/base";
import { measureJson } from "../json/measure.ts";
import { allPasses, Pace, type Passes } from "../json/turns.ts";
import { MAX_VALUES } from "../model/body-limits.ts";
import { badRequest, refusal } from "../model/status.ts";
import type { Declared, Struct, WireType } from "../wire/go-type.ts";
import {
  broken,
  bytesOf,
  doubleOf,
  type FieldBudget,
  newFieldBudget,
  numberOf,
  textOf,
  type WireValue,
  wireFields,
} from "./encoding.ts";
import { fieldsOf, messageOf, zeroIsNothing } from "./messages.ts";

/** `k8s` and a zero byte, then a `runtime.Unknown` (Kubernetes API concepts, "Alternate representations of resources"). */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];
const MAX_DEPTH = 64;
const NOTHING = new Uint8Array();

type Body = Record<string, unknown>;

/** JSON within a body that holds more values than a body may, and is not read for that. Nobody has looked yet whether it is JSON. */
export class TooMuchJson extends Error {
  readonly text: string;
  /** Levels of objects and lists, where it is JSON. */
  readonly depth: number;

  constructor(text: string, depth: number) {
    super("more JSON than a body may hold");
    this.text = text;
    this.depth = depth;
  }
}

/**
 * The object in a body. Throws 400 for broken bytes, 413 for too many fields, 415 for kinds and fields that are not known here, and
 * `TooMuchJson`.
 */
export function decodeProtobuf(bytes: Uint8Array): Body {
  return allPasses(protobufInPasses(bytes));
}

/** `decodeProtobuf` in passes. */
export function* protobufInPasses(bytes: Uint8Array): Passes<Body> {
  if (MAGIC.some((byte, i) => bytes[i] !== byte)) throw badRequest("the body is not in Kubernetes' protobuf envelope");
  const budget: Budget = { ...newFieldBudget(), jsonValues: MAX_VALUES, pace: new Pace() };
  let kind = "";
  let apiVersion = "";
  let raw: Uint8Array = NOTHING;
  for (const [number, value] of wireFields(bytes.subarray(MAGIC.length), budget)) {
    if (number === 1)
      for (const [n, text] of wireFields(bytesOf(value), budget)) {
        if (n === 1) apiVersion = textOf(text);
        if (n === 2) kind = textOf(text);
      }
    if (number === 2) raw = bytesOf(value);
  }
  const message = messageOf(apiVersion, kind);
  if (message === undefined) throw unknownHere(kind);
  return { apiVersion, kind, ...(yield* read(message, raw, { path: kind, depth: 0, budget })) };
}

interface Budget extends FieldBudget {
  /** How many values the JSON in the body may still hold. */
  jsonValues: number;
  /** Of the walk over the body. */
  pace: Pace;
}

interface Place {
  path: string;
  depth: number;
  budget: Budget;
}

function* read(message: Struct, bytes: Uint8Array, place: Place): Passes<Body> {
  if (place.depth > MAX_DEPTH) throw badRequest("the body is nested too deep");
  const known = fieldsOf(message);
  const out: Body = {};
  let last: Declared | undefined;
  let below = place;
  for (const [number, value] of wireFields(bytes, place.budget)) {
    if (place.budget.pace.isOver()) yield;
    const field = known.get(number);
    // Items and entries follow each other.
    if (field !== undefined && field !== last) {
      const path = field.isEmbedded ? place.path : `${place.path}.${field.name}`;
      below = { path, depth: place.depth + 1, budget: place.budget };
      last = field;
    }
    if (field !== undefined) yield* put(out, field, value, below);
    // Go writes empty structs too; they say nothing.
    else if (typeof value === "number" || value.length > 0) throw unknownHere(`${place.path} field ${number}`);
  }
  return out;
}

function* put(out: Body, field: Declared, value: WireValue, place: Place): Passes<void> {
  const { name } = field;
  const type = field.type.is === "pointer" ? field.type.of : field.type;
  if (type.is === "map") {
    let key: WireValue = NOTHING;
    let held: WireValue = NOTHING;
    for (const [n, part] of wireFields(bytesOf(value), place.budget))
      if (n === 1) key = part;
      else if (n === 2) held = part;
    const member = textOf(key);
    out[name] ??= {};
    if (member === "__proto__") throw badRequest(`${place.path} has a key that no object may have`);
    (out[name] as Body)[member] = yield* single(type.of, held, place);
  } else if (type.is === "list") {
    out[name] ??= [];
    (out[name] as unknown[]).push(yield* single(type.of, value, place));
  } else {
    const one = yield* single(type, value, place);
    if (field.isEmbedded) Object.assign(out, one);
    else if (one !== undefined && !(zeroIsNothing(field) && isZero(one))) out[name] = one;
  }
}

function isZero(value: unknown): boolean {
  return value === "" || value === 0 || value === false;
}

function* single(type: WireType, value: WireValue, place: Place): Passes<unknown> {
  switch (type.is) {
    case "pointer":
      return yield* single(type.of, value, place);
    case "struct":
      return yield* read(type, bytesOf(value), place);
    case "SchemaOrArray":
    case "SchemaOrBool":
    case "SchemaOrStrings":
      return yield* schemaOr(type, value, place);
    default:
      return scalar(type, value, place);
  }
}

function scalar(type: WireType, value: WireValue, place: Place): unknown {
  switch (type.is) {
    case "string":
      return textOf(value);
    case "int32":
    case "int64":
      return numberOf(value);
    case "float64":
      return doubleOf(value);
    case "bool":
      return numberOf(value) !== 0;
    case "bytes":
      return Buffer.from(bytesOf(value)).toString("base64");
    case "Quantity":
      return textOf(part(value, 1, place) ?? NOTHING);
    case "Time":
      return timeOf(value, rfc3339, place);
    case "MicroTime":
      return timeOf(value, rfc3339Micro, place);
    case "IntOrString":
      return intOrString(value, place);
    case "Raw":
      return jsonOf(value, place);
    // A list in a list or a map is a message of its own.
    default:
      return wireFields(bytesOf(value), place.budget).map(([, item]) => textOf(item));
  }
}

function part(value: WireValue, number: number, { budget }: Place): WireValue | undefined {
  return wireFields(bytesOf(value), budget).find(([n]) => n === number)?.[1];
}

/** Seconds and nanoseconds; a zero time says nothing. */
function timeOf(value: WireValue, write: (ms: number) => string, place: Place): string | undefined {
  const seconds = part(value, 1, place);
  if (seconds === undefined) return undefined;
  const nanoseconds = part(value, 2, place) ?? 0;
  return write(numberOf(seconds) * 1000 + Math.floor(numberOf(nanoseconds) / 1e6));
}

/** 1 says which: the number in 2, or the text in 3. */
function intOrString(value: WireValue, place: Place): number | string {
  if (part(value, 1, place) === 1) return textOf(part(value, 3, place) ?? NOTHING);
  return numberOf(part(value, 2, place) ?? 0);
}

function jsonOf(value: WireValue, place: Place): unknown {
  const text = part(value, 1, place);
  if (text === undefined) return undefined;
  const json = textOf(text);
  const { values, depth } = measureJson(json);
  place.budget.jsonValues -= values;
  if (place.budget.jsonValues < 0) throw new TooMuchJson(json, depth);
  try {
    return JSON.parse(json);
  } catch {
    throw broken();
  }
}

type SchemaOr = Extract<WireType, { is: `SchemaOr${string}` }>;

/** A schema, or what JSON has in its place: whether anything is allowed, a list of schemas, a list of names. */
function* schemaOr({ is, of }: SchemaOr, value: WireValue, place: Place): Passes<unknown> {
  const parts = wireFields(bytesOf(value), place.budget);
  const [schemaAt, otherAt] = is === "SchemaOrBool" ? [2, 1] : [1, 2];
  const one = (schema: WireValue): Passes<unknown> => single(of, schema, { ...place, depth: place.depth + 1 });
  const schema = parts.find(([n]) => n === schemaAt)?.[1];
  if (schema !== undefined) return yield* one(schema);
  const others = parts.filter(([n]) => n === otherAt).map(([, other]) => other);
  if (is === "SchemaOrBool") return others.some((allows) => numberOf(allows) !== 0);
  if (is === "SchemaOrStrings") return others.map(textOf);
  const schemas: unknown[] = [];
  for (const other of others) schemas.push(yield* one(other));
  return schemas;
}

function unknownHere(what: string) {
  return refusal("UnsupportedMediaType", `${what} is not read as protobuf here; send application/json`);
}
