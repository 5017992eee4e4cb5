import { fdatasync, write } from "node:fs";
import { promisify } from "node:util";

/** The parts of the disk that are waited for. */
export interface Disk {
  /** Appends all of it. */
  append(fd: number, bytes: Uint8Array): Promise<void>;
  /** Resolves once what was appended survives a loss of power. */
  sync(fd: number): Promise<void>;
}

const writing = promisify(write);

/** Files of the operating system, in its own threads. */
export const systemDisk: Disk = {
  async append(fd, bytes) {
    for (let at = 0; at < bytes.length; ) at += (await writing(fd, bytes, at, bytes.length - at, null)).bytesWritten;
  },
  sync: promisify(fdatasync),
};
