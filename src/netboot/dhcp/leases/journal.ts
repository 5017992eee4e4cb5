import { closeSync, fdatasyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { diskFault, Fault, type Log, quietLog } from "@slipway/base";
import type { Ipv4 } from "../wire/ipv4.ts";
import { type Disk, systemDisk } from "./disk.ts";
import type { Lease, LeaseStore } from "./lease.ts";
import { HEADER, openLeaseFile } from "./lease-file.ts";
import { type ReadLines, readLines, TORN, writeDoubt, writeSealedLine } from "./lease-lines.ts";

/** A file is written anew when so many of its lines, and as many again as there are leases, are out of date. */
const FEWEST_OLD_LINES = 20_000;

/** Leases that are turned into text at once while clients wait. */
const AT_ONCE = 4_000;

/**
 * Leases in a file of lines, the newest line of an address counts; `put` resolves when its line is on the disk. Leases that are put together,
 * or while the disk is busy, share one write; nobody waits for others to come. Leases of a write that failed go
 * with the next one; the log says once that writes fail, and once that they do not any more. Lines are sealed by a checksum: damaged ones
 * are left out and logged. One process at a time writes; others may read at any time. Throws a `Fault` when the file can't be opened
 * or a newer Slipway wrote it.
 */
export function openLeases(
  file: string,
  { log = quietLog, disk = systemDisk }: { log?: Log; disk?: Disk } = {},
): LeaseStore {
  try {
    const { fd, text } = openLeaseFile(file);
    const found = readLines(text.slice(HEADER.length));
    const [first] = found.damaged;
    if (first !== undefined)
      log.warn(
        { file, line: first + 1, lines: found.damaged.length },
        "damaged lines of leases are left out; their addresses are looked at before they are given",
      );
    return new Journal({ file, fd, disk, log, found, lines: text.split("\n").length });
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw diskFault(file, cause, "MissingInput");
  }
}

interface Parts {
  file: string;
  fd: number;
  disk: Disk;
  log: Log;
  found: Pick<ReadLines, "leases" | "doubtful">;
  lines: number;
}

class Journal implements LeaseStore {
  readonly #file: string;
  readonly #disk: Disk;
  readonly #log: Log;
  /** Those that were put since are not among them. */
  readonly doubtful: Set<Ipv4>;
  /** The newest word on each address, on the disk or on its way. */
  readonly #known: Map<Ipv4, Lease>;
  /** What is not on the disk and not on its way there. */
  #queued = new Map<Ipv4, Lease>();
  /** Of what is queued: resolves when it is on the disk. */
  #group: PromiseWithResolvers<void> | undefined;
  #fd: number;
  #lines: number;
  #renewAt: number;
  /** Half a line may be the last thing in the file. */
  #torn = false;
  /** The last write failed, and the log says so. */
  #isFailing = false;
  #busy = false;
  #closed = false;

  constructor({ file, fd, disk, log, found, lines }: Parts) {
    this.#file = file;
    this.#fd = fd;
    this.#disk = disk;
    this.#log = log;
    this.#known = found.leases;
    this.doubtful = found.doubtful;
    this.#lines = lines;
    this.#renewAt = 2 * this.#known.size + FEWEST_OLD_LINES;
  }

  load(): Lease[] {
    return [...this.#known.values()].sort((a, b) => a.address - b.address);
  }

  put(lease: Lease): Promise<void> {
    if (this.#closed) return Promise.reject(this.#failed(new Error("it is closed")));
    this.#known.set(lease.address, lease);
    this.doubtful.delete(lease.address);
    this.#queued.set(lease.address, lease);
    if (this.#group === undefined) {
      this.#group = Promise.withResolvers<void>();
      queueMicrotask(() => this.#next());
    }
    return this.#group.promise;
  }

  close(): void {
    this.#closed = true;
    const group = this.#group;
    this.#group = undefined;
    try {
      this.#disk.append(this.#fd, (this.#torn ? TORN : "") + textOf(this.#queued.values()));
      fdatasyncSync(this.#fd);
      group?.resolve();
    } catch (cause) {
      group?.reject(this.#failed(cause));
    }
    if (!this.#busy) closeSync(this.#fd);
  }

  /** Writes the next group, unless the disk is busy with one; that one's end comes back here. */
  #next(): void {
    const written = this.#group;
    if (this.#busy || written === undefined) return;
    const leases = this.#queued;
    this.#group = undefined;
    this.#queued = new Map();
    this.#busy = true;
    this.#append(leases).then(
      () => {
        if (this.#isFailing) this.#log.info({ file: this.#file }, "leases are written again");
        this.#isFailing = false;
        this.#done(written.resolve);
      },
      (cause: unknown) => {
        for (const [address, lease] of leases) if (!this.#queued.has(address)) this.#queued.set(address, lease);
        const fault = this.#failed(cause);
        if (!this.#isFailing)
          this.#log.error({ error: fault.advice }, "leases can't be written, so no address is given");
        this.#isFailing = true;
        this.#done(() => written.reject(fault));
      },
    );
  }

  #done(notify: () => void): void {
    this.#busy = false;
    notify();
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
    rmSync(name, { force: true });
    const fd = openSync(name, "wx", 0o600);
    try {
      this.#disk.append(fd, HEADER);
      const leases = [...this.#known.values()];
      for (let at = 0; at < leases.length; at += AT_ONCE) {
        this.#disk.append(fd, textOf(leases.slice(at, at + AT_ONCE)));
        // Clients are answered between the parts.
        await this.#disk.sync(fd);
      }
      this.#disk.append(fd, Array.from(this.doubtful, writeDoubt).join(""));
      await this.#disk.sync(fd);
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
    return diskFault(this.#file, cause, "Unavailable");
  }
}

function textOf(leases: Iterable<Lease>): string {
  let text = "";
  for (const lease of leases) text += writeSealedLine(lease);
  return text;
}
