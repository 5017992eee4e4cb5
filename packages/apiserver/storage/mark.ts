import { closeSync, constants, fdatasync, fdatasyncSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import type { Clock, Timer } from "@slipway/base";

/** How far a journal had got. */
export interface Mark {
  journal: string;
  version: number;
}

/** The mark's file beside a journal's. */
export const markFile = (file: string): string => `${file}-mark`;

/** Each in a sector of its own, written in turn: a loss of power tears one of them at most. */
const SLOTS = [0, 4096] as const;
const SLOT_BYTES = 100;
/** From a change of the mark until it is sent to the disk; a killed process needs no more than the kernel's memory. */
const SYNC_MS = 1000;

/**
 * The newest of the two marks in the file. `none`: there is no file; `damaged`: neither can be read.
 */
export function readMark(file: string): Mark | "none" | "damaged" {
  let bytes: Buffer;
  try {
    bytes = readFileSync(markFile(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "none";
    throw error;
  }
  const found = SLOTS.map((at) => parse(bytes.toString("latin1", at, at + SLOT_BYTES))).filter((m) => m !== undefined);
  if (found.length === 0) return "damaged";
  return found.reduce((newest, mark) => (mark.version > newest.version ? mark : newest));
}

function parse(text: string): Mark | undefined {
  const [, said, journal, version, sum] = /^(slipway-mark 1 (\S+) (\d+)) ([0-9a-f]{8})\n/.exec(text) ?? [];
  if (said === undefined || sum !== hex(crc32(said))) return undefined;
  return { journal: journal!, version: Number(version) };
}

function textOf({ journal, version }: Mark): Buffer {
  const said = `slipway-mark 1 ${journal} ${version}`;
  return Buffer.from(`${said} ${hex(crc32(said))}\n`.padEnd(SLOT_BYTES));
}

const hex = (sum: number): string => sum.toString(16).padStart(8, "0");

/**
 * Records, outside of the journal's file, how far the journal has got: the only way to notice that a whole journal, or the end of it, is
 * missing. Noted after each commit, so it never runs ahead of the disk.
 */
export class MarkWriter {
  readonly #fd: number;
  readonly #journal: string;
  readonly #clock: Pick<Clock, "after">;
  #slot = 0;
  #timer: Timer | undefined;
  #syncing = false;
  #closed = false;

  /** Writes the first mark; it is on the disk when this returns. */
  constructor(file: string, { journal, version }: Mark, clock: Pick<Clock, "after">) {
    this.#journal = journal;
    this.#clock = clock;
    this.#fd = openSync(markFile(file), constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    try {
      // Both: what is left of another journal's must not be taken for this one's.
      for (let slot = 0; slot < SLOTS.length; slot++) {
        this.#write(version);
        fdatasyncSync(this.#fd);
      }
      syncFolderOf(file);
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  /** Never throws: a mark that could not be written is an older one, so less is noticed then, and nothing wrong is claimed. */
  note(version: number): void {
    try {
      this.#write(version);
    } catch {
      return;
    }
    this.#timer ??= this.#clock.after(SYNC_MS, () => this.#sync());
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    if (this.#syncing) return;
    this.#end();
  }

  #sync(): void {
    this.#timer = undefined;
    if (this.#syncing) return;
    this.#syncing = true;
    fdatasync(this.#fd, () => {
      this.#syncing = false;
      if (this.#closed) this.#end();
    });
  }

  #end(): void {
    try {
      fdatasyncSync(this.#fd);
    } catch {
      // As with `note`.
    } finally {
      closeSync(this.#fd);
    }
  }

  #write(version: number): void {
    writeSync(this.#fd, textOf({ journal: this.#journal, version }), 0, SLOT_BYTES, SLOTS[this.#slot]);
    this.#slot = (this.#slot + 1) % SLOTS.length;
  }
}

/** A name that was made or changed in the folder survives a loss of power when this returns. */
export function syncFolderOf(file: string): void {
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
