import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Messages to start from, one a line: a name, and hex. */
export function corpus(name: "dhcp" | "tftp", atLeastBytes = 0): Buffer[] {
  const lines = readFileSync(join(import.meta.dirname, "corpus", `${name}.txt`), "utf8").split("\n");
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => Buffer.from(line.split(/\s+/)[1]!, "hex"))
    .map((bytes) => Buffer.concat([bytes, Buffer.alloc(Math.max(0, atLeastBytes - bytes.length))]));
}

/**
 * Endless inputs from a corpus, the same ones for the same seed: some as they are, most with bytes changed, moved, left out or put
 * behind each other. What it gives is valid until the next call. Made for millions: no closures, no garbage.
 */
export class Bent {
  readonly #corpus: readonly Buffer[];
  readonly #buffer = Buffer.alloc(4096);
  #state: number;

  constructor(corpus: readonly Buffer[], seed: number) {
    this.#corpus = corpus;
    this.#state = (seed * 2_654_435_761) >>> 0 || 1;
  }

  /** A whole number from 0 up to, not including, `below` (xorshift32; its slight bias does not matter here). */
  int(below: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % below;
  }

  next(): Buffer {
    const length = this.#start();
    const bytes = this.#buffer;
    switch (this.int(8)) {
      case 0:
        return bytes.subarray(0, length);
      case 1:
        return bytes.subarray(0, this.int(length + 1));
      case 2: {
        // Something from another place in the same input, as lengths and codes that are out of step.
        const to = this.int(length);
        bytes.copy(bytes, to, this.int(length), length);
        return bytes.subarray(0, length);
      }
      case 3: {
        const other = this.#corpus[this.int(this.#corpus.length)]!;
        return bytes.subarray(0, length + other.copy(bytes, length));
      }
      default:
        for (let changes = 1 + this.int(6); changes > 0; changes--) bytes[this.int(length)] = this.#byte();
        return bytes.subarray(0, length);
    }
  }

  /** Copies a seed, or noise, and returns its length. */
  #start(): number {
    if (this.int(32) > 0) return this.#corpus[this.int(this.#corpus.length)]!.copy(this.#buffer);
    const length = 1 + this.int(400);
    for (let i = 0; i < length; i++) this.#buffer[i] = this.int(256);
    return length;
  }

  /** Bytes at the edges are where lengths go wrong. */
  #byte(): number {
    const kind = this.int(4);
    return kind === 0 ? 0 : kind === 1 ? 255 : kind === 2 ? this.int(16) : this.int(256);
  }
}
