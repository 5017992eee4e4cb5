import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  rename,
  write,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { Clock, Timer } from "../../../base/clock.ts";
import { Fault } from "../../../base/fault.ts";
import type { Ipv4 } from "../wire/ipv4.ts";
import type { Lease, LeaseStore } from "./lease.ts";
import { readLines, writeLine } from "./lease-lines.ts";

/** The parts of the disk that are waited for. */
export interface Disk {
  /** Appends all of it. */
  append(fd: number, bytes: Uint8Array): Promise<void>;
  /** Resolves once what was appended survives a loss of power. */
  sync(fd: number): Promise<void>;
}

const writing = promisify(write);

const systemDisk: Disk = {
  async append(fd, bytes) {
    for (let at = 0; at < bytes.length; ) at += (await writing(fd, bytes, at, bytes.length - at, null)).bytesWritten;
  },
  sync: promisify(fdatasync),
};

/** The first line; the number changes with the format. */
const HEADER = "slipway-leases 1\n";

/** Ends a line that a loss of power or a full disk has torn, so that what is left of it is not read as a lease. */
const TORN = "?\n";

/** No client notices, and thousands of clients a second share some hundred writes. */
const GATHER_MS = 2;

/** A file is written anew when this many of its lines, and as many again as there are leases, are out of date. */
const FEWEST_OLD_LINES = 20_000;

/** Leases that are turned into text at once while clients wait. */
const AT_ONCE = 2_000;

/**
 * Leases in a file of lines, the newest line of an address counts; `put` resolves when its line is on the disk. Leases that are put within
 * some milliseconds, or while the disk is busy, share one write; nobody but their clients waits for it. Leases of a write that failed go
 * with the next one. One process at a time writes; others may read at any time. Throws a `Fault` when the file can't be read or a newer
 * Slipway wrote it.
 */
export function openLeases(file: string, clock: Pick<Clock, "after">, disk: Disk = systemDisk): LeaseStore {
  const fd = openSync(file, "a+", 0o600);
  try {
    const text = readFileSync(fd, "utf8");
    const [header = ""] = text.split("\n", 1);
    if (text !== "" && `${header}\n` !== HEADER)
      throw new Fault(
        "Invalid",
        file,
        `it begins with ${JSON.stringify(header.slice(0, 40))}, not with ${HEADER.trim()}`,
      );
    if (text === "") {
      writeSync(fd, HEADER);
      fdatasyncSync(fd);
      syncFolder(file);
    } else if (!text.endsWith("\n")) writeSync(fd, TORN);
    const known = readLines(text);
    return new Journal({ file, fd, clock, disk, known, lines: text.split("\n").length });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

interface Parts {
  file: string;
  fd: number;
  clock: Pick<Clock, "after">;
  disk: Disk;
  known: Map<Ipv4, Lease>;
  lines: number;
}

class Journal implements LeaseStore {
  readonly #file: string;
  readonly #clock: Pick<Clock, "after">;
  readonly #disk: Disk;
  /** The newest word on each address, on the disk or on its way. */
  readonly #known: Map<Ipv4, Lease>;
  /** What is not on the disk and not on its way there. */
  #queued = new Map<Ipv4, Lease>();
  #group: { written: PromiseWithResolvers<void>; timer: Timer } | undefined;
  #fd: number;
  #lines: number;
  /** Half a line may be the last thing in the file. */
  #torn = false;
  #busy = false;
  #closed = false;

  constructor({ file, fd, clock, disk, known, lines }: Parts) {
    this.#file = file;
    this.#fd = fd;
    this.#clock = clock;
    this.#disk = disk;
    this.#known = known;
    this.#lines = lines;
  }

  load(): Lease[] {
    return [...this.#known.values()].sort((a, b) => a.address - b.address);
  }

  put(lease: Lease): Promise<void> {
    this.#known.set(lease.address, lease);
    this.#queued.set(lease.address, lease);
    this.#group ??= { written: Promise.withResolvers<void>(), timer: this.#clock.after(GATHER_MS, () => this.#next()) };
    return this.#group.written.promise;
  }

  close(): void {
    this.#closed = true;
    const group = this.#group;
    this.#group = undefined;
    group?.timer.cancel();
    try {
      writeSync(this.#fd, (this.#torn ? TORN : "") + textOf(this.#queued.values()));
      fdatasyncSync(this.#fd);
      group?.written.resolve();
    } catch (cause) {
      group?.written.reject(this.#failed(cause));
    }
    if (!this.#busy) closeSync(this.#fd);
  }

  /** Writes the next group, unless the disk is busy with one; that one's end comes back here. */
  #next(): void {
    if (this.#busy || this.#group === undefined) return;
    const { written, timer } = this.#group;
    const leases = this.#queued;
    timer.cancel();
    this.#group = undefined;
    this.#queued = new Map();
    this.#busy = true;
    this.#append(leases).then(
      () => this.#done(written.resolve),
      (cause: unknown) => {
        for (const [address, lease] of leases) if (!this.#queued.has(address)) this.#queued.set(address, lease);
        this.#done(() => written.reject(this.#failed(cause)));
      },
    );
  }

  #done(tell: () => void): void {
    this.#busy = false;
    tell();
    if (this.#closed) closeSync(this.#fd);
    else this.#next();
  }

  async #append(leases: ReadonlyMap<Ipv4, Lease>): Promise<void> {
    if (this.#lines > 2 * this.#known.size + FEWEST_OLD_LINES) await this.#renew();
    const mend = this.#torn ? TORN : "";
    this.#torn = true;
    await this.#disk.append(this.#fd, Buffer.from(mend + textOf(leases.values())));
    await this.#disk.sync(this.#fd);
    this.#torn = false;
    this.#lines += leases.size;
  }

  /** Puts a file of only the newest lines in place of this one. What is put meanwhile is queued, and comes after. */
  async #renew(): Promise<void> {
    const fd = openSync(`${this.#file}.new`, "w", 0o600);
    try {
      await this.#disk.append(fd, Buffer.from(HEADER));
      const leases = [...this.#known.values()];
      for (let at = 0; at < leases.length; at += AT_ONCE)
        await this.#disk.append(fd, Buffer.from(textOf(leases.slice(at, at + AT_ONCE))));
      await this.#disk.sync(fd);
      // The last words of a journal that is closed meanwhile are in the old file.
      if (this.#closed) return closeSync(fd);
      await promisify(rename)(`${this.#file}.new`, this.#file);
      syncFolder(this.#file);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(this.#fd);
    this.#fd = fd;
    this.#torn = false;
    this.#lines = this.#known.size;
  }

  #failed(cause: unknown): Fault {
    return new Fault("Unavailable", this.#file, "leases could not be written", { cause });
  }
}

function textOf(leases: Iterable<Lease>): string {
  let text = "";
  for (const lease of leases) text += writeLine(lease);
  return text;
}

/** A file's name is in its folder, which has to be on the disk as well. */
function syncFolder(file: string): void {
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
