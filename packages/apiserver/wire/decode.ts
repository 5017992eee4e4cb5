import { setMember } from "../json/members.ts";
import { isRecord } from "../json/value.ts";
import type { Steps } from "../model/duplicates.ts";
import type { Struct, WireField, WireType } from "./go-type.ts";
import { Refused, readScalar } from "./scalars.ts";

/** A body that does not fit its kind's Go type; the message is that of the Go decoder. */
export class Undecodable extends Error {}

interface Walk {
  /** Fields that the type does not have. */
  unknown: Place[];
  /** The first complaint that lets the decoder go on. */
  complaint: string | undefined;
  /** Empty lists and maps are none: the store keeps both as nothing. */
  stored: boolean;
  /** The decoded maps with nothing in them: to ask a large one for its keys again takes as long as to copy it. */
  empty: WeakSet<object>;
}

/** Where the decoder stands. Most places are never reported, so their names are put together only for a complaint. */
interface Place {
  above: Place | undefined;
  /** A field, a map's key or a list's index. */
  step: string | number;
  /** What the step is a field of; unset for keys and indexes. */
  field?: { of: Struct; through: readonly string[] };
}

/**
 * An object as its kind's Go type holds it and writes it again: unknown fields are gone, nulls and zero values stand or are missing as
 * upstream writes them (`stored`: reads them back), quantities and times have their canonical form. `apiVersion` and `kind` stay as they are. Throws `Undecodable`.
 */
export function decodeWire(
  type: WireType,
  value: unknown,
  { stored = false }: { stored?: boolean } = {},
): { value: unknown; unknown: string[] } {
  const { value: decoded, unknown } = walked(type, value, stored);
  return { value: decoded, unknown: unknown.map(pathOf) };
}

/** The same as `decodeWire`; of the unknown fields, which may be very many, no more than `most`, with the steps that lead to them. */
export function decodeStrict(
  type: WireType,
  value: unknown,
  most: number,
): { value: unknown; unknown: string[]; steps: Steps[] } {
  const { value: decoded, unknown } = walked(type, value, false);
  const shown = unknown.slice(0, most);
  return { value: decoded, unknown: shown.map(pathOf), steps: shown.map(stepsOf) };
}

function walked(type: WireType, value: unknown, stored: boolean): { value: unknown; unknown: Place[] } {
  const walk: Walk = { unknown: [], complaint: undefined, stored, empty: new WeakSet() };
  const { apiVersion, kind } = isRecord(value) ? value : {};
  const decoded = decode(type, value, undefined, walk);
  if (walk.complaint !== undefined) throw new Undecodable(walk.complaint);
  const head = { ...(apiVersion !== undefined && { apiVersion }), ...(kind !== undefined && { kind }) };
  return { value: { ...head, ...(decoded as object) }, unknown: walk.unknown };
}

const blanks = new WeakMap<WireType, unknown>();

/** An object of the type with nothing set, as upstream writes it. Shared: not to be changed. */
export function blankOf(type: WireType): unknown {
  if (type.is !== "struct") return zeroOf(type);
  let found = blanks.get(type);
  if (found === undefined) {
    found = zeroOf(type);
    blanks.set(type, found);
  }
  return found;
}

function decode(type: WireType, value: unknown, place: Place | undefined, walk: Walk): unknown {
  if (value === null || value === undefined) return zeroOf(type);
  switch (type.is) {
    case "pointer":
      return decode(type.of, value, place, walk);
    case "struct":
      return isRecord(value) ? decodeStruct(type, value, place, walk) : mismatch(type, value, place, walk);
    case "list":
      if (!Array.isArray(value)) return mismatch(type, value, place, walk);
      if (walk.stored && value.length === 0) return null;
      return value.map((item, i) => decode(type.of, item, { above: place, step: i }, walk));
    case "map": {
      if (!isRecord(value)) return mismatch(type, value, place, walk);
      return decodeMap(type.of, value, place, walk);
    }
    case "Raw":
    case "SchemaOrStrings":
      return value;
    case "SchemaOrArray":
    case "SchemaOrBool":
      if (isRecord(value)) return decodeWire(type.of, value, { stored: walk.stored }).value;
      if (type.is === "SchemaOrBool" && typeof value !== "boolean")
        throw new Undecodable("boolean or JSON schema expected");
      return value;
    default:
      return scalar(type, value, place, walk);
  }
}

/** Go writes maps in the order of their keys. What is in that order, and as it is written, is the answer itself. */
function decodeMap(
  type: WireType,
  value: Record<string, unknown>,
  place: Place | undefined,
  walk: Walk,
): Record<string, unknown> | null {
  const keys = Object.keys(value);
  if (keys.length === 0) {
    if (walk.stored) return null;
    walk.empty.add(value);
    return value;
  }
  const isSorted = keys.every((key, i) => i === 0 || keys[i - 1]! < key);
  if (!isSorted) keys.sort();
  let members: Record<string, unknown> | undefined = isSorted ? undefined : {};
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const item = value[key];
    // Most maps hold texts.
    const isText = type.is === "string" && typeof item === "string";
    const decoded = isText ? item : decode(type, item, { above: place, step: key }, walk);
    if (members === undefined && decoded === item) continue;
    if (members === undefined) {
      members = {};
      for (const before of keys.slice(0, i)) setMember(members, before, value[before]);
    }
    setMember(members, key, decoded);
  }
  return members ?? value;
}

function decodeStruct(
  type: Struct,
  value: Record<string, unknown>,
  place: Place | undefined,
  walk: Walk,
): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  // In the order of the text: the first complaint is the one that is reported.
  for (const name of Object.keys(value)) {
    // What an object claims to be is no field of its type. Taking it out would cost a copy of the object.
    if (place === undefined && (name === "apiVersion" || name === "kind")) continue;
    const field = type.fields.get(name);
    if (field === undefined) {
      walk.unknown.push({ above: place, step: name });
      continue;
    }
    const at = { above: place, step: name, field: { of: type, through: field.through } };
    const decoded = decode(field.type, value[name], at, walk);
    if (isWritten(field, decoded, walk)) members[name] = decoded;
  }
  for (const [name, of] of standing(type)) if (!Object.hasOwn(value, name)) members[name] = zeroOf(of);
  return members;
}

const known = new WeakMap<Struct, readonly (readonly [string, WireType])[]>();

/** The fields of a struct that are written though nothing is in them. */
function standing(type: Struct): readonly (readonly [string, WireType])[] {
  let found = known.get(type);
  if (found === undefined) {
    found = [...type.fields].flatMap(([name, field]) =>
      isWritten(field, zeroOf(field.type), undefined) ? [[name, field.type] as const] : [],
    );
    known.set(type, found);
  }
  return found;
}

/** `omitempty` keeps structs and times, whatever is in them; `omitzero` doesn't. */
function isWritten({ type, written }: WireField, value: unknown, walk: Walk | undefined): boolean {
  if (written === "always") return true;
  if (value === null) return written === "unlessEmpty" && isStruct(type);
  switch (type.is) {
    case "pointer":
      return true;
    case "string":
      return value !== "";
    case "bool":
      return value !== false;
    case "int32":
    case "int64":
    case "float64":
      return value !== 0;
    case "bytes":
      return value !== "";
    case "list":
      return (value as unknown[]).length > 0;
    case "map":
      return walk?.empty.has(value as object) !== true;
    case "struct":
      return written === "unlessEmpty" || Object.keys(value as object).length > 0;
    default:
      return true;
  }
}

/** Go values of these kinds are never "empty". */
function isStruct(type: WireType): boolean {
  return type.is === "Time" || type.is === "MicroTime" || type.is === "Raw";
}

function zeroOf(type: WireType): unknown {
  switch (type.is) {
    case "string":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "float64":
    case "IntOrString":
      return 0;
    case "Quantity":
      return "0";
    case "struct":
      return Object.fromEntries(standing(type).map(([name, of]) => [name, zeroOf(of)]));
    default:
      return null;
  }
}

function scalar(type: WireType, value: unknown, place: Place | undefined, walk: Walk): unknown {
  try {
    return readScalar(type.is as Parameters<typeof readScalar>[0], value);
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    if (walk.complaint !== undefined && !refused.ends) return zeroOf(type);
    // A complaint of a type's own decoder ends everything; others only count when they are the first.
    const message = refused.wants === undefined ? refused.message : inField(value, refused.wants(type.go), place);
    if (refused.ends) throw new Undecodable(message);
    walk.complaint ??= message;
    return zeroOf(type);
  }
}

function mismatch(type: WireType, value: unknown, place: Place | undefined, walk: Walk): unknown {
  walk.complaint ??= inField(value, type.go, place);
  return zeroOf(type);
}

/** Complaints name the innermost struct, and the fields on the way from the outermost. */
function inField(value: unknown, go: string, place: Place | undefined): string {
  const fields: string[] = [];
  let struct: string | undefined;
  for (let at = place; at !== undefined; at = at.above) {
    if (at.field === undefined) continue;
    struct ??= at.field.of.name;
    fields.push(String(at.step), ...at.field.through.toReversed());
  }
  fields.reverse();
  const where = struct === undefined ? "Go value" : `Go struct field ${struct}.${fields.join(".")}`;
  return `json: cannot unmarshal ${formOf(value, go)} into ${where} of type ${go}`;
}

/** Numbers are named with their digits where a number was wanted. */
function formOf(value: unknown, go: string): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  if (typeof value !== "number") return typeof value;
  return /^(int|float)/.test(go) ? `number ${value}` : "number";
}

function stepsOf(place: Place): Steps {
  const steps: (string | number)[] = [];
  for (let at: Place | undefined = place; at !== undefined; at = at.above) steps.push(at.step);
  return steps.reverse();
}

/** With indexes and map keys, as strict decoding names fields. */
function pathOf({ above, step }: Place): string {
  const path = above === undefined ? "" : pathOf(above);
  if (typeof step === "number") return `${path}[${step}]`;
  return path === "" ? step : `${path}.${step}`;
}
