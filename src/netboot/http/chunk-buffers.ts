/** How much is read and handed to the socket at a time, at most. */
export const CHUNK_BYTES = 256 * 1024;
const LEAST_BYTES = 16 * 1024;
/** A transfer begins with pieces of this size: many that begin together do not take large ones first. */
const FIRST_BYTES = 64 * 1024;
/** For all that fetch, where the least size allows it. */
const BUDGET_BYTES = 16 * 2 ** 20;
const MOST_IDLE = 8;

/**
 * Memory for the pieces of files that are on their way to clients. It is used again, since new memory costs the kernel more than the copying does;
 * the more clients fetch, the smaller are their pieces.
 */
export class ChunkBuffers {
  readonly #idle: Buffer[] = [];
  /** Transfers over TLS count twice: as much again of theirs lies here encrypted. */
  #weight = 0;

  /** How large a piece is now. */
  get chunkBytes(): number {
    let bytes = CHUNK_BYTES;
    while (bytes > LEAST_BYTES && bytes * this.#weight > BUDGET_BYTES) bytes /= 2;
    return bytes;
  }

  /** Runs one transfer with memory of its own. */
  async during(transfer: (own: OwnBuffers) => Promise<void>, { isEncrypted = false } = {}): Promise<void> {
    const weight = isEncrypted ? 2 : 1;
    this.#weight += weight;
    const own = new OwnBuffers(this);
    try {
      await transfer(own);
    } finally {
      this.#weight -= weight;
      own.end();
    }
  }

  /** Leaves a buffer to the next transfer that can use it. */
  leave(buffer: Buffer): void {
    if (this.#idle.length < MOST_IDLE) this.#idle.push(buffer);
  }

  /** One that another transfer has left. */
  takeIdle(bytes: number): Buffer | undefined {
    const index = this.#idle.findIndex(({ length }) => length === bytes);
    return index === -1 ? undefined : this.#idle.splice(index, 1)[0];
  }
}

/** The memory of one transfer. */
export class OwnBuffers {
  readonly #all: ChunkBuffers;
  #free: Buffer | undefined;
  #isFirst = true;

  constructor(all: ChunkBuffers) {
    this.#all = all;
  }

  take(): Buffer {
    const bytes = this.#isFirst ? Math.min(FIRST_BYTES, this.#all.chunkBytes) : this.#all.chunkBytes;
    this.#isFirst = false;
    const free = this.#free;
    this.#free = undefined;
    return free?.length === bytes ? free : (this.#all.takeIdle(bytes) ?? Buffer.allocUnsafeSlow(bytes));
  }

  /** Only what nobody reads or writes any more. A transfer that need not wait for its file has one. */
  give(buffer: Buffer): void {
    if (this.#free === undefined) this.#free = buffer;
    else this.#all.leave(buffer);
  }

  end(): void {
    if (this.#free !== undefined) this.#all.leave(this.#free);
    this.#free = undefined;
  }
}
