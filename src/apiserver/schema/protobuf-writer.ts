import { isRecord } from "./node.ts";

/** Writes protobuf's wire format (varints, doubles, length-delimited). Values of another type than asked for are left out. */
export class ProtobufWriter {
  #parts: Uint8Array[] = [];

  text(field: number, value: unknown): void {
    if (typeof value !== "string" || value === "") return;
    this.#delimited(field, Buffer.from(value, "utf8"));
  }

  texts(field: number, values: unknown): void {
    if (Array.isArray(values)) for (const value of values) this.#delimited(field, Buffer.from(String(value), "utf8"));
  }

  bool(field: number, value: unknown): void {
    if (value === true) this.#parts.push(varint((field << 3) | 0), Uint8Array.of(1));
  }

  /** A non-negative integer. */
  int(field: number, value: unknown): void {
    if (typeof value === "number" && value > 0) this.#parts.push(varint((field << 3) | 0), varint(value));
  }

  double(field: number, value: unknown): void {
    if (typeof value !== "number" || value === 0) return;
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    this.#parts.push(varint((field << 3) | 1), bytes);
  }

  message(field: number, value: unknown, write: (into: ProtobufWriter, value: Record<string, unknown>) => void): void {
    if (!isRecord(value)) return;
    const inner = new ProtobufWriter();
    write(inner, value);
    this.#delimited(field, inner.finish());
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

  finish(): Uint8Array {
    return Buffer.concat(this.#parts);
  }

  #delimited(field: number, bytes: Uint8Array): void {
    this.#parts.push(varint((field << 3) | 2), varint(bytes.length), bytes);
  }
}

/** Base-128 varint of a non-negative safe integer. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  while (left > 127) {
    bytes.push((left % 128) | 128);
    left = Math.floor(left / 128);
  }
  bytes.push(left);
  return Uint8Array.from(bytes);
}
