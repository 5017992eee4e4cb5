import { closeSync, fdatasyncSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { Fault, privateFile } from "@slipway/base";
import { TORN } from "./lease-lines.ts";

/** The first line; the number changes with the format. */
export const HEADER = "slipway-leases 2\n";
/** The same without checksums; as long as the other, which is written over it. */
const HEADER_1 = "slipway-leases 1\n";

/**
 * Opens the file of leases to append to it; `text` is what it held before, its first line included. A new file gets its first line, a torn last line
 * is ended, a file without checksums is marked as one with them. Throws a `Fault` (`Invalid`) for a file of another format, and what the system says.
 */
export function openLeaseFile(file: string): { fd: number; text: string } {
  privateFile(file);
  const fd = openSync(file, "a+", 0o600);
  try {
    const text = readFileSync(fd, "utf8");
    if (HEADER.startsWith(text) || HEADER_1.startsWith(text)) begin(file, fd);
    else if (!text.startsWith(HEADER) && !text.startsWith(HEADER_1)) {
      const found = JSON.stringify(text.slice(0, 40));
      throw new Fault("Invalid", file, `it begins with ${found}, not with ${JSON.stringify(HEADER)}`);
    } else if (!text.endsWith("\n")) writeSync(fd, TORN);
    if (text.startsWith(HEADER_1)) upgrade(file);
    return { fd, text };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** An older Slipway takes sealed lines for damaged: it is to refuse the file. */
function upgrade(file: string): void {
  const fd = openSync(file, "r+");
  try {
    writeSync(fd, HEADER, 0);
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Writes the first line, of which a loss of power may have left a part; the file's name is on the disk as well then. */
function begin(file: string, fd: number): void {
  ftruncateSync(fd, 0);
  writeSync(fd, HEADER);
  fdatasyncSync(fd);
  const folder = openSync(dirname(file), "r");
  fsyncSync(folder);
  closeSync(folder);
}
