import { fdatasync, writeSync } from "node:fs";
import { promisify } from "node:util";

/** What the journal does to the disk. */
export interface Disk {
  /** Appends all of it: to the kernel's memory, which takes no longer than to ask another thread to do it. Throws when it can't. */
  append(fd: number, text: string): void;
  /** Resolves once what was appended survives a loss of power. */
  sync(fd: number): Promise<void>;
}

export const systemDisk: Disk = {
  append(fd, text) {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  },
  sync: promisify(fdatasync),
};
