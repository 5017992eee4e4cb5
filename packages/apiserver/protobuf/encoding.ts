import { MAX_VALUES, tooManyValues } from "../model/body-limits.ts";
import { badRequest } from "../model/status.ts";

/** What stands behind a field's number: a varint, or the bytes of everything else. */
export type WireValue = number | Uint8Array;

/** How many fields the messages of one body may still have. */
export interface FieldBudget {
  left: number;
}

/** An entry of a map is a field with a key and a value in it. */
export const newFieldBudget = (): FieldBudget => ({ left: 3 * MAX_VALUES });

/**
 * The fields of a message in the order of the wire (Protocol Buffers "Encoding"). Throws 400 for broken bytes, and 413 for more fields than
 * the body may have.
 */
export function wireFields(bytes: Uint8Array, budget: FieldBudget): [number, WireValue][] {
  const out: [number, WireValue][] = [];
  let at = 0;
  const varint = (): number => {
    if (bytes[at]! < 0x80) return bytes[at++]!;
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
    if (--budget.left < 0) throw tooManyValues(MAX_VALUES + 1);
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

/** The bytes of a field of wire type 2. Throws where it has another. */
export function bytesOf(value: WireValue): Uint8Array {
  if (typeof value === "number") throw broken();
  return value;
}

/** The value of a varint or fixed field as a number. Throws where it has another wire type. */
export function numberOf(value: WireValue): number {
  if (typeof value !== "number") throw broken();
  return value;
}

/** The text of a field of wire type 2, from UTF-8. */
export function textOf(value: WireValue): string {
  const bytes = bytesOf(value);
  // Names and values are short mostly: to put such a one together costs less than to ask for it.
  if (bytes.length > SHORT) return decoded(bytes);
  let text = "";
  for (const byte of bytes) {
    if (byte >= 0x80) return decoded(bytes);
    text += String.fromCharCode(byte);
  }
  return text;
}

const SHORT = 24;

function decoded({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("utf8");
}

/** The value of a field of wire type 1 as a floating point number. */
export function doubleOf(value: WireValue): number {
  const bytes = bytesOf(value);
  if (bytes.length !== 8) throw broken();
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
}

/** The refusal of bytes that are no protobuf. */
export function broken() {
  return badRequest("the body's protobuf is broken");
}
