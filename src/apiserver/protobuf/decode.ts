/**
 * Reads the protobuf bodies that typed Go clients send, for the kinds in `messages.ts`. Answers are JSON always. What is not in the table is
 * refused, never dropped: a field that is lost in silence is worse than an error.
 */
import { rfc3339 } from "../../base/clock.ts";
import { badRequest, refusal } from "../status.ts";
import { MESSAGES } from "./messages.ts";

/** `k8s` and a zero byte, then a `runtime.Unknown` (Kubernetes API concepts, "Alternate representations of resources"). */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];
const MAX_DEPTH = 32;

/** The object in a body. Throws 400 for broken bytes, 415 for kinds and fields that are not known here. */
export function decodeProtobuf(bytes: Uint8Array): Record<string, unknown> {
  if (MAGIC.some((byte, i) => bytes[i] !== byte)) throw badRequest("the body is not in Kubernetes' protobuf envelope");
  let kind = "";
  let apiVersion = "";
  let raw: Uint8Array = new Uint8Array();
  for (const [number, value] of fields(bytes.subarray(MAGIC.length))) {
    if (number === 1)
      for (const [n, text] of fields(asBytes(value))) {
        if (n === 1) apiVersion = textOf(text);
        if (n === 2) kind = textOf(text);
      }
    if (number === 2) raw = asBytes(value);
  }
  if (!Object.hasOwn(MESSAGES, kind)) throw unknownHere(kind);
  return { apiVersion, kind, ...message(kind, raw, kind, 0) };
}

type Value = number | Uint8Array;

function message(type: string, bytes: Uint8Array, path: string, depth: number): Record<string, unknown> {
  if (depth > MAX_DEPTH) throw badRequest("the body is nested too deep");
  const out: Record<string, unknown> = {};
  for (const [number, value] of fields(bytes)) {
    const [name, kind] = MESSAGES[type]?.[number]?.split(" ") ?? [];
    if (name === undefined || kind === undefined) {
      // Go writes empty structs too; they say nothing.
      if (typeof value !== "number" && value.length === 0) continue;
      throw unknownHere(`${path} field ${number}`);
    }
    if (kind.startsWith("{")) {
      out[name] ??= {};
      const map = out[name] as Record<string, unknown>;
      const [key, found] = entry(asBytes(value), kind);
      if (key !== "__proto__") map[key] = found;
    } else if (kind.endsWith("*")) {
      out[name] ??= [];
      (out[name] as unknown[]).push(single(kind.slice(0, -1), value, `${path}.${name}`, depth));
    } else {
      const one = single(kind, value, `${path}.${name}`, depth);
      if (one !== undefined && one !== "") out[name] = one;
    }
  }
  return out;
}

function single(kind: string, value: Value, path: string, depth: number): unknown {
  switch (kind) {
    case "s":
      return textOf(value);
    case "i":
      return numberOf(value);
    case "n":
      return numberOf(value) || undefined;
    case "b":
      return numberOf(value) !== 0;
    case "f":
      return numberOf(value) !== 0 || undefined;
    case "is":
      return intOrString(asBytes(value));
    case "x":
      return Buffer.from(asBytes(value)).toString("base64");
    case "-":
      return undefined;
    case "-empty":
      if (asBytes(value).length > 0) throw unknownHere(path);
      return undefined;
    case "t": {
      const seconds = fields(asBytes(value)).find(([n]) => n === 1)?.[1];
      return seconds === undefined ? undefined : rfc3339(numberOf(seconds) * 1000);
    }
    default:
      return message(kind, asBytes(value), path, depth + 1);
  }
}

/** `util.intstr.IntOrString`: 1 says which (0: the number in 2, 1: the text in 3). */
function intOrString(bytes: Uint8Array): number | string {
  const parts = new Map(fields(bytes));
  if (parts.get(1) === 1) return textOf(parts.get(3) ?? new Uint8Array());
  return numberOf(parts.get(2) ?? 0);
}

function entry(bytes: Uint8Array, kind: string): [string, unknown] {
  let key = "";
  let value: Uint8Array = new Uint8Array();
  for (const [number, part] of fields(bytes)) {
    if (number === 1) key = textOf(part);
    if (number === 2) value = asBytes(part);
  }
  if (kind === "{x}") return [key, Buffer.from(value).toString("base64")];
  return [key, kind === "{s*}" ? fields(value).map(([, text]) => textOf(text)) : textOf(value)];
}

/** The fields of a message in the order of the wire (Protocol Buffers "Encoding"). */
function fields(bytes: Uint8Array): [number, Value][] {
  const out: [number, Value][] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw broken();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
    }
    throw broken();
  };
  while (at < bytes.length) {
    const tag = varint();
    const wire = tag & 7;
    const length = wire === 2 ? varint() : wire === 1 ? 8 : wire === 5 ? 4 : 0;
    if (wire === 0) out.push([tag >>> 3, varint()]);
    else if (length < 0 || at + length > bytes.length || ![1, 2, 5].includes(wire)) throw broken();
    else {
      out.push([tag >>> 3, bytes.subarray(at, at + length)]);
      at += length;
    }
  }
  return out;
}

function asBytes(value: Value): Uint8Array {
  if (typeof value === "number") throw broken();
  return value;
}

function numberOf(value: Value): number {
  if (typeof value !== "number") throw broken();
  return value;
}

function textOf(value: Value): string {
  return Buffer.from(asBytes(value)).toString("utf8");
}

function broken() {
  return badRequest("the body's protobuf is broken");
}

function unknownHere(what: string) {
  return refusal("UnsupportedMediaType", `${what} is not read as protobuf here; send application/json`);
}
