import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { type Code, Fault } from "./fault.ts";

/** SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY. */
const SQLITE: Readonly<Record<number, string>> = { 13: "ENOSPC", 10: "EIO", 8: "EROFS" };

/**
 * Why the file could not be written, in words that name its folder: the disk is full (with what is left of it), fails, or is read-only.
 * A `Fault` stays as it is. The code is `Internal` unless given: it is tried again.
 */
export function diskFault(file: string, error: unknown, as: Code = "Internal"): Fault {
  if (error instanceof Fault) return error;
  const folder = dirname(file);
  const { code, errcode, message } = error as { code?: string; errcode?: number; message: string };
  const options = { cause: error };
  switch (errcode === undefined ? code : SQLITE[errcode & 0xff]) {
    case "ENOSPC":
      return new Fault(as, file, `the disk of ${folder} is full (${roomOf(folder)})`, {
        ...options,
        remedy: "free some space there; it goes on by itself",
      });
    case "EDQUOT":
      return new Fault(as, file, `the quota of ${folder} is used up`, {
        ...options,
        remedy: "free some space there; it goes on by itself",
      });
    case "EROFS":
      return new Fault(as, file, `the disk of ${folder} is read-only`, {
        ...options,
        remedy: "mount it for writing",
      });
    case "EIO":
      return new Fault(as, file, `the disk of ${folder} fails (${message})`, {
        ...options,
        remedy: "look into the system's log; copy the folder to another disk",
      });
    default:
      return new Fault(as, file, `it could not be written (${message})`, options);
  }
}

/** Free space as words. */
function roomOf(folder: string): string {
  try {
    const { bavail, bsize, blocks } = statfsSync(folder);
    return `${mebibytes(bavail * bsize)} of ${mebibytes(blocks * bsize)} free`;
  } catch {
    return "how much is free is not known";
  }
}

function mebibytes(bytes: number): string {
  return `${Math.floor((bytes / 2 ** 20) * 10) / 10} MiB`;
}
