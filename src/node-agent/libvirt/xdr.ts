/**
 * XDR (RFC 4506) as libvirt's protocol uses it: a `Codec` writes a value and reads the same value back. Everything is a multiple of four
 * bytes, big-endian. A length that a peer claims is believed only as far as there are bytes for it, so what is read costs no more memory than
 * what was received.
 */
import { Fault } from "@slipway/base";

export interface Codec<T> {
  write(to: XdrWriter, value: T): void;
  /** Throws a `Fault` (`Invalid`) when the bytes are no such value. */
  read(from: XdrReader): T;
}

/** As many bytes as one text may have: libvirt's own limit. */
export const LONGEST_TEXT = 4 * 1024 * 1024;
const SMALLEST_ROOM = 256;

/** Collects values as bytes. */
export class XdrWriter {
  #bytes = Buffer.alloc(SMALLEST_ROOM);
  #length = 0;

  /** Room for `n` more bytes, all zero. */
  take(n: number): Buffer {
    const end = this.#length + n;
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(end, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    const room = this.#bytes.subarray(this.#length, end);
    this.#length = end;
    return room;
  }

  /** What was written so far. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

/** Reads values from bytes, one after the other. */
export class XdrReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** The next `n` bytes, not copied. */
  take(n: number): Buffer {
    if (n > this.left) throw malformed(`${n} bytes are announced and ${this.left} are left`);
    this.#at += n;
    return this.#bytes.subarray(this.#at - n, this.#at);
  }
}

/** A fault of the peer: what it sent is not what the protocol says. */
export function malformed(what: string): Fault {
  return new Fault("Invalid", "libvirt", `sent what can't be read: ${what}`, {
    remedy: "check that the socket is libvirt's",
  });
}

export const u32: Codec<number> = {
  write: (to, value) => void to.take(4).writeUInt32BE(value),
  read: (from) => from.take(4).readUInt32BE(),
};

export const i32: Codec<number> = {
  write: (to, value) => void to.take(4).writeInt32BE(value),
  read: (from) => from.take(4).readInt32BE(),
};

export const u64: Codec<bigint> = {
  write: (to, value) => void to.take(8).writeBigUInt64BE(value),
  read: (from) => from.take(8).readBigUInt64BE(),
};

/** Bytes of a fixed length. */
export function opaque(length: number): Codec<Buffer> {
  const padding = paddingOf(length);
  return {
    write(to, value) {
      if (value.length !== length) throw new RangeError(`${value.length} bytes where ${length} are due`);
      value.copy(to.take(length + padding));
    },
    read(from) {
      const bytes = Buffer.from(from.take(length));
      from.take(padding);
      return bytes;
    },
  };
}

/** UTF-8 text of at most 4 MiB. */
export const text: Codec<string> = {
  write(to, value) {
    const bytes = Buffer.from(value, "utf8");
    if (bytes.length > LONGEST_TEXT) throw new RangeError(`a text of ${bytes.length} bytes`);
    u32.write(to, bytes.length);
    bytes.copy(to.take(bytes.length + paddingOf(bytes.length)));
  },
  read(from) {
    const length = u32.read(from);
    if (length > LONGEST_TEXT) throw malformed(`a text of ${length} bytes`);
    const value = from.take(length).toString("utf8");
    from.take(paddingOf(length));
    return value;
  },
};

/** A value that may be absent. */
export function optional<T>(of: Codec<T>): Codec<T | undefined> {
  return {
    write(to, value) {
      u32.write(to, value === undefined ? 0 : 1);
      if (value !== undefined) of.write(to, value);
    },
    read(from) {
      const present = u32.read(from);
      if (present > 1) throw malformed(`${present} where 0 or 1 is due`);
      return present === 0 ? undefined : of.read(from);
    },
  };
}

/** At most `most` values, each of at least four bytes. */
export function list<T>(of: Codec<T>, most: number): Codec<readonly T[]> {
  return {
    write(to, values) {
      u32.write(to, values.length);
      for (const value of values) of.write(to, value);
    },
    read(from) {
      const count = u32.read(from);
      if (count > most || count > from.left / 4) throw malformed(`a list of ${count}`);
      const values: T[] = [];
      for (let i = 0; i < count; i++) values.push(of.read(from));
      return values;
    },
  };
}

/** Members one after the other, in the order in which they are given. */
export function struct<T extends object>(members: { readonly [Name in keyof T]: Codec<T[Name]> }): Codec<T> {
  const entries = Object.entries(members) as [keyof T, Codec<unknown>][];
  return {
    write(to, value) {
      for (const [name, codec] of entries) codec.write(to, value[name]);
    },
    read: (from) => Object.fromEntries(entries.map(([name, codec]) => [name, codec.read(from)])) as T,
  };
}

/** No bytes at all. */
export const nothing: Codec<void> = { write() {}, read() {} };

/** The bytes of one value. */
export function encode<T>(codec: Codec<T>, value: T): Buffer {
  const writer = new XdrWriter();
  codec.write(writer, value);
  return writer.bytes();
}

/** The value that all these bytes are; what is left over makes them another value. */
export function decode<T>(codec: Codec<T>, bytes: Buffer): T {
  const reader = new XdrReader(bytes);
  const value = codec.read(reader);
  if (reader.left > 0) throw malformed(`${reader.left} bytes too many`);
  return value;
}

function paddingOf(length: number): number {
  return (4 - (length % 4)) % 4;
}
