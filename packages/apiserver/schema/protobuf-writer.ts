import { isRecord } from "../json/value.ts";

const FIRST_BYTES = 1024;

/** Writes protobuf's wire format (varints, doubles, length-delimited). Values of another type than asked for are left out. */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  text(field: number, value: unknown): void {
    if (typeof value === "string" && value !== "") this.#string(field, value);
  }

  texts(field: number, values: unknown): void {
    if (Array.isArray(values)) for (const value of values) this.#string(field, String(value));
  }

  bool(field: number, value: unknown): void {
    if (value !== true) return;
    this.#varint((field << 3) | 0);
    this.#varint(1);
  }

  /** A non-negative integer. */
  int(field: number, value: unknown): void {
    if (typeof value !== "number" || value <= 0) return;
    this.#varint((field << 3) | 0);
    this.#varint(value);
  }

  double(field: number, value: unknown): void {
    if (typeof value !== "number" || value === 0) return;
    this.#varint((field << 3) | 1);
    this.#room(8);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  message(field: number, value: unknown, write: (into: ProtobufWriter, value: Record<string, unknown>) => void): void {
    if (!isRecord(value)) return;
    this.#varint((field << 3) | 2);
    // The length comes before what it measures: one byte is kept free for it, and what follows moves when it needs more.
    const start = this.#at + 1;
    this.#room(1);
    this.#at = start;
    write(this, value);
    const end = this.#at;
    const shift = varintLength(end - start) - 1;
    if (shift > 0) {
      this.#room(shift);
      this.#bytes.copyWithin(start + shift, start, end);
    }
    this.#at = start - 1;
    this.#varint(end - start);
    this.#at = end + shift;
  }

  /** A `Named…` message: name as field 1, value as field 2. */
  entry(
    field: number,
    name: string,
    value: unknown,
    write: (into: ProtobufWriter, value: Record<string, unknown>) => void,
  ): void {
    this.message(field, {}, (named) => {
      named.text(1, name);
      named.message(2, value, write);
    });
  }

  /** What was written so far. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  #string(field: number, value: string): void {
    const length = Buffer.byteLength(value);
    this.#varint((field << 3) | 2);
    this.#varint(length);
    this.#room(length);
    this.#at += this.#bytes.write(value, this.#at);
  }

  /** Base-128 varint of a non-negative safe integer. */
  #varint(value: number): void {
    this.#room(8);
    let left = value;
    while (left > 127) {
      this.#bytes[this.#at++] = (left % 128) | 128;
      left = Math.floor(left / 128);
    }
    this.#bytes[this.#at++] = left;
  }

  #room(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#at + more));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

function varintLength(value: number): number {
  let length = 1;
  for (let left = value; left > 127; left = Math.floor(left / 128)) length++;
  return length;
}
