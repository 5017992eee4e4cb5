/**
 * Which parts of files were read a short time ago, so that the kernel has them in memory: those may be read again without another thread, which
 * costs twice as much as the reading. Everything else is read by a thread, since a disk may keep its reader waiting.
 */
import { statfs } from "node:fs/promises";
import type { Clock } from "@slipway/base";

/** So long the kernel is taken to keep what was read. */
const KEPT_MS = 60_000;
/** A read that takes longer came from the disk: the kernel has forgotten the file. */
const SLOW_MS = 5;
const BLOCK_BYTES = 64 * 1024;
const MOST_FILES = 32;
/** Of a larger file more would be noted than it is worth. */
const MOST_BYTES = 64 * 2 ** 30;
/** By `statfs`: ext4, XFS, Btrfs, tmpfs, overlayfs, ZFS, SquashFS. Others, NFS among them, may ask their server before they give what they hold. */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0x73717368,
]);

/** Of many files; those that were opened least recently are forgotten. */
export class RecentReads {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #typeOf: (path: string) => Promise<number>;
  readonly #files = new Map<string, FileReads | undefined>();

  constructor(clock: Pick<Clock, "monotonic">, typeOf = fileSystemOf) {
    this.#clock = clock;
    this.#typeOf = typeOf;
  }

  /** What is known of the file, `key` being another for each of its contents; undefined where it must always be waited for. */
  async of(path: string, key: string, size: number): Promise<FileReads | undefined> {
    if (this.#files.has(key)) {
      const known = this.#files.get(key);
      this.#files.delete(key);
      this.#files.set(key, known);
      return known;
    }
    const isLocal = size <= MOST_BYTES && LOCAL.has(await this.#typeOf(path).catch(() => 0));
    const reads = isLocal ? new FileReads(size, this.#clock) : undefined;
    this.#files.set(key, reads);
    for (const oldest of this.#files.keys()) {
      if (this.#files.size <= MOST_FILES) break;
      this.#files.delete(oldest);
    }
    return reads;
  }
}

/** Of one file. */
export class FileReads {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Of each block the second in which its end was read, 0 for never. */
  readonly #readAt: Uint32Array;
  readonly #size: number;

  constructor(size: number, clock: Pick<Clock, "monotonic">) {
    this.#size = size;
    this.#clock = clock;
    this.#readAt = new Uint32Array(Math.ceil(size / BLOCK_BYTES));
  }

  /** Runs `read` if all of the part was read a short time ago; undefined: it is to be waited for. */
  now(offset: number, length: number, read: () => number): number | undefined {
    const began = this.#clock.monotonic();
    const oldest = secondOf(began - KEPT_MS);
    for (let block = Math.floor(offset / BLOCK_BYTES); block * BLOCK_BYTES < offset + length; block++) {
      const at = this.#readAt[block] ?? 0;
      if (at === 0 || at < oldest) return undefined;
    }
    const filled = read();
    if (this.#clock.monotonic() - began > SLOW_MS) this.#readAt.fill(0);
    else this.note(offset, filled);
    return filled;
  }

  /** Notes what was read: readers go from front to end, so a block is in memory when its end has been read. */
  note(offset: number, length: number): void {
    const end = offset + length;
    const first = Math.floor(offset / BLOCK_BYTES);
    const past = end === this.#size ? this.#readAt.length : Math.floor(end / BLOCK_BYTES);
    this.#readAt.fill(secondOf(this.#clock.monotonic()), first, past);
  }
}

function secondOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

async function fileSystemOf(path: string): Promise<number> {
  return (await statfs(path)).type;
}
