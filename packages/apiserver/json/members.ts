/** JSON values, read and written member by member, and the refusals of this folder. */
import { type Code, Fault } from "@slipway/base";

export type JsonObject = Record<string, unknown>;

/** What `Fault.details` of this folder's faults hold: `message` is `Status.message` as kube-apiserver words it. */
export interface PatchRefusal {
  message: string;
  causes?: { reason: string; message: string; field: string }[];
}

/** A fault whose text the server can hand on as a `Status`. */
export function refusal(code: Code, on: string, message: string, causes?: PatchRefusal["causes"]): Fault {
  const details: PatchRefusal = causes === undefined ? { message } : { message, causes };
  return new Fault(code, on, message, { details });
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value has no parts. */
export function isLeaf(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

/** An own member: `__proto__` and `constructor` are ordinary keys in JSON. */
export function member(object: JsonObject, key: string): unknown {
  const value = object[key];
  // What every object inherits are functions, which JSON has none of, and its prototype.
  if (typeof value !== "function" && key !== "__proto__") return value;
  return Object.hasOwn(object, key) ? value : undefined;
}

/** Sets an own member, also one named `__proto__`. */
export function setMember(object: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** An object with the same members. Of large ones it is made in half the time that `{ ...object }` takes. */
export function shallowCopy(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const key of Object.keys(object)) setMember(copy, key, object[key]);
  return copy;
}

/** Equality of JSON values; the order of an object's keys does not matter. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => equalJson(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]))
  );
}

/** A JSON text with sorted keys: the same for equal values. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const keys = Object.keys(value);
  const [only] = keys;
  // Most items are identified by one member.
  if (keys.length === 1) return `{${JSON.stringify(only)}:${canonicalJson(value[only!])}}`;
  const members = keys.sort().map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
}
