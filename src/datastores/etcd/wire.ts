/** Protobuf's wire format (https://protobuf.dev/programming-guides/encoding/) as far as etcd's messages need it: numbers, bytes, messages. */

/** A field's number and value; a list is the field several times. Zero, false and empty are left out, as proto3 does. */
export type Field = readonly [number: number, value: number | bigint | boolean | string | Uint8Array];

const VARINT = 0;
const BYTES = 2;

/** A message of these fields, in their order. */
export function encode(...fields: readonly Field[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (typeof value === "string" || value instanceof Uint8Array) {
      const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value;
      if (bytes.length > 0) parts.push(varint(BigInt(number * 8 + BYTES)), varint(BigInt(bytes.length)), bytes);
    } else if (BigInt(value) !== 0n) {
      parts.push(varint(BigInt(number * 8 + VARINT)), varint(BigInt.asUintN(64, BigInt(value))));
    }
  }
  return Buffer.concat(parts);
}

/** A nested message, which is there even when it is empty. */
export function message(number: number, ...fields: readonly Field[]): Uint8Array {
  const body = encode(...fields);
  return Buffer.concat([varint(BigInt(number * 8 + BYTES)), varint(BigInt(body.length)), body]);
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 0x80);
  } while (rest !== 0n);
  return Uint8Array.from(bytes);
}

/** A message's fields by their numbers, whatever they are. */
export class Fields {
  readonly #bytes = new Map<number, Uint8Array[]>();
  readonly #numbers = new Map<number, bigint>();

  /** Throws `RangeError` for bytes that end within a field or have a wire type that etcd does not use. */
  constructor(bytes: Uint8Array) {
    const reader = new Reader(bytes);
    while (!reader.atEnd) {
      const tag = Number(reader.varint());
      const [number, type] = [Math.floor(tag / 8), tag % 8];
      if (type === VARINT) this.#numbers.set(number, reader.varint());
      else if (type === BYTES) {
        const list = this.#bytes.get(number) ?? [];
        list.push(reader.take(Number(reader.varint())));
        this.#bytes.set(number, list);
      } else if (type === 1 || type === 5) reader.take(type === 1 ? 8 : 4);
      else throw new RangeError(`protobuf: wire type ${type}`);
    }
  }

  /** Zero where it is absent. */
  int64(number: number): bigint {
    return BigInt.asIntN(64, this.#numbers.get(number) ?? 0n);
  }

  /** Empty where it is absent. */
  bytes(number: number): Uint8Array {
    return this.#bytes.get(number)?.at(-1) ?? new Uint8Array();
  }

  text(number: number): string {
    return Buffer.from(this.bytes(number)).toString("utf8");
  }

  texts(number: number): string[] {
    return (this.#bytes.get(number) ?? []).map((bytes) => Buffer.from(bytes).toString("utf8"));
  }

  messages(number: number): Fields[] {
    return (this.#bytes.get(number) ?? []).map((bytes) => new Fields(bytes));
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("protobuf: a number without an end");
  }

  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError("protobuf: a field without an end");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}
