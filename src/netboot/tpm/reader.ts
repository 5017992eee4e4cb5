import { Fault } from "@slipway/base";

/** Reads TPM structures (big-endian) from bytes that anybody may have sent. Throws a `Fault` (`Invalid`) where they end too early or too late. */
export class Reader {
  readonly #bytes: Uint8Array;
  readonly #what: string;
  #at = 0;

  /** `what`: named in faults. */
  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes;
    this.#what = what;
  }

  u16(): number {
    const [high, low] = this.bytes(2);
    return (high! << 8) | low!;
  }

  u32(): number {
    return this.u16() * 0x1_0000 + this.u16();
  }

  /** A TPM2B: its length, then so many bytes. */
  sized(): Uint8Array {
    return this.bytes(this.u16());
  }

  bytes(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length)
      throw new Fault("Invalid", this.#what, `it ends at byte ${this.#bytes.length}, within a field`);
    const read = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return read;
  }

  /** Throws unless all was read. */
  end(): void {
    if (this.#at < this.#bytes.length)
      throw new Fault("Invalid", this.#what, `${this.#bytes.length - this.#at} bytes follow its end`);
  }
}
