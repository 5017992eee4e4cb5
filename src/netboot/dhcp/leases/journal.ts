import { closeSync, fdatasyncSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock, Timer } from "../../../base/clock.ts";
import { Fault } from "../../../base/fault.ts";
import type { Ipv4 } from "../wire/ipv4.ts";
import { type Disk, systemDisk } from "./disk.ts";
import type { Lease, LeaseStore } from "./lease.ts";
import { readLines, writeLine } from "./lease-lines.ts";

/** The first line; the number changes with the format. */
const HEADER = "slipway-leases 1\n";

/** Ends a line that a loss of power or a full disk has torn, so that what is left of it is not read as a lease. */
const TORN = "?\n";

/** No client notices, and thousands of clients a second share some hundred writes. */
const GATHER_MS = 4;

/** A file is written anew when so many of its lines, and as many again as there are leases, are out of date. */
const FEWEST_OLD_LINES = 20_000;

/** Leases that are turned into text at once while clients wait. */
const AT_ONCE = 4_000;

/**
 * Leases in a file of lines, the newest line of an address counts; `put` resolves when its line is on the disk. Leases that are put within
 * some milliseconds, or while the disk is busy, share one write; nobody but their clients waits for it. Leases of a write that failed go
 * with the next one. One process at a time writes; others may read at any time. Throws a `Fault` when the file can't be opened or a newer
 * Slipway wrote it.
 */
export function openLeases(file: string, clock: Pick<Clock, "after">, disk: Disk = systemDisk): LeaseStore {
  let fd: number | undefined;
  try {
    fd = openSync(file, "a+", 0o600);
    const text = readFileSync(fd, "utf8");
    if (HEADER.startsWith(text)) begin(file, fd, HEADER.slice(text.length));
    else if (!text.startsWith(HEADER)) {
      const found = JSON.stringify(text.slice(0, 40));
      throw new Fault("Invalid", file, `it begins with ${found}, not with ${JSON.stringify(HEADER)}`);
    } else if (!text.endsWith("\n")) writeSync(fd, TORN);
    const known = readLines(text);
    return new Journal({ file, fd, clock, disk, known, lines: text.split("\n").length });
  } catch (cause) {
    if (fd !== undefined) closeSync(fd);
    if (cause instanceof Fault) throw cause;
    throw new Fault("MissingInput", file, `the file of leases can't be opened: ${(cause as Error).message}`, { cause });
  }
}

/** Writes the first line, or what a loss of power left out of it; the file's name is on the disk as well then. */
function begin(file: string, fd: number, header: string): void {
  writeSync(fd, header);
  fdatasyncSync(fd);
  const folder = openSync(dirname(file), "r");
  fsyncSync(folder);
  closeSync(folder);
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
  #renewAt: number;
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
    this.#renewAt = 2 * known.size + FEWEST_OLD_LINES;
  }

  load(): Lease[] {
    return [...this.#known.values()].sort((a, b) => a.address - b.address);
  }

  put(lease: Lease): Promise<void> {
    if (this.#closed) return Promise.reject(this.#failed(new Error("it is closed")));
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
      this.#disk.append(this.#fd, (this.#torn ? TORN : "") + textOf(this.#queued.values()));
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
    if (this.#lines > this.#renewAt) await this.#renew();
    const mend = this.#torn ? TORN : "";
    this.#torn = true;
    this.#disk.append(this.#fd, mend + textOf(leases.values()));
    await this.#disk.sync(this.#fd);
    this.#torn = false;
    this.#lines += leases.size;
  }

  /**
   * Puts a file of only the newest lines in place of this one. What is put meanwhile is queued, and comes after. Where that can't be done,
   * this one goes on growing until the next try.
   */
  async #renew(): Promise<void> {
    this.#renewAt = this.#lines + FEWEST_OLD_LINES;
    const fd = await this.#newFile().catch(() => undefined);
    if (fd === undefined) return;
    closeSync(this.#fd);
    this.#fd = fd;
    this.#torn = false;
    this.#lines = this.#known.size;
    this.#renewAt = 2 * this.#lines + FEWEST_OLD_LINES;
    const folder = openSync(dirname(this.#file), "r");
    await this.#disk.sync(folder).finally(() => closeSync(folder));
  }

  /** Undefined: there is none, for this journal was closed meanwhile, and its last words are in the old one. */
  async #newFile(): Promise<number | undefined> {
    const name = `${this.#file}.new`;
    const fd = openSync(name, "w", 0o600);
    try {
      this.#disk.append(fd, HEADER);
      const leases = [...this.#known.values()];
      for (let at = 0; at < leases.length; at += AT_ONCE) {
        this.#disk.append(fd, textOf(leases.slice(at, at + AT_ONCE)));
        // Clients are answered between the parts.
        await this.#disk.sync(fd);
      }
      if (!this.#closed) {
        renameSync(name, this.#file);
        return fd;
      }
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(fd);
    return undefined;
  }

  #failed(cause: unknown): Fault {
    return new Fault("Unavailable", this.#file, `leases could not be written: ${(cause as Error).message}`, { cause });
  }
}

function textOf(leases: Iterable<Lease>): string {
  let text = "";
  for (const lease of leases) text += writeLine(lease);
  return text;
}
