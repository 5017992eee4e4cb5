/** A line grew beyond the limit. The reader is of no use afterwards. */
export class LineTooLong extends RangeError {}

/** Cuts a byte stream into lines (NDJSON), without holding more than `maxBytes` of an unfinished one. Empty lines are left out. */
export class LineReader {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that `chunk` completes. Throws `LineTooLong`. */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      const line = this.rest();
      if (line !== "") lines.push(line);
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
    return lines;
  }

  /** What came after the last newline; it is forgotten then. */
  rest(): string {
    const text = Buffer.concat(this.#parts).toString("utf8").trim();
    this.#parts = [];
    this.#size = 0;
    return text;
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#size += part.length;
    if (this.#size > this.#maxBytes) throw new LineTooLong(`a line is longer than ${this.#maxBytes} bytes`);
    this.#parts.push(part);
  }
}

const NEWLINE = 0x0a;
