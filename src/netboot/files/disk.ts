import { constants, readSync } from "node:fs";
import { type FileHandle, open, readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { Fault, systemClock } from "@slipway/base";
import { type FileReads, RecentReads } from "./recent-reads.ts";
import type { FileSource, OpenFile } from "./source.ts";

/** Single files of the disk under names of our own: `{ "shimx64.efi": "/usr/lib/shim/shimx64.efi.signed" }`. */
export function declaredFiles(paths: Readonly<Record<string, string>>): FileSource {
  const exact = new Map(Object.entries(paths));
  const folded = new Map(Object.entries(paths).map(([name, path]) => [name.toLowerCase(), path]));
  return {
    async open(name) {
      const path = exact.get(name) ?? folded.get(name.toLowerCase());
      if (path === undefined) return undefined;
      const real = await existing(path);
      const file = real === undefined ? undefined : await openRegular(real);
      if (file === undefined)
        throw new Fault("MissingInput", path, "is declared as a boot file but is no regular file");
      return file;
    },
  };
}

/**
 * Every regular file below a folder. Symbolic links are followed as long as they stay inside. Hidden files are not
 * served (`fileName` refuses their names). The folder itself may come and go.
 */
export function folderFiles(folder: string): FileSource {
  return {
    async open(name) {
      const root = await existing(folder);
      if (root === undefined) return undefined;
      const path = (await existing(join(root, name))) ?? (await foldedPath(root, name.split("/")));
      if (path === undefined || !path.startsWith(root + sep)) return undefined;
      return openRegular(path);
    },
  };
}

/** The real path, without links; undefined when there is none or we may not look. */
async function existing(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}

/** Finds the parts one after another without regard to case. */
async function foldedPath(root: string, parts: readonly string[]): Promise<string | undefined> {
  let path = root;
  for (const part of parts) {
    const entries = await readdir(path).catch((): string[] => []);
    const found = entries.includes(part) ? part : entries.sort().find((e) => e.toLowerCase() === part.toLowerCase());
    if (found === undefined) return undefined;
    path = join(path, found);
  }
  return existing(path);
}

const recent = new RecentReads(systemClock);

/** Undefined for anything but a regular file. A pipe must not make us wait, nor a link put in its place lead us away. */
async function openRegular(path: string): Promise<OpenFile | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  let isServed = false;
  try {
    const stat = await handle.stat();
    isServed = stat.isFile();
    if (!isServed) return undefined;
    const version = `${stat.ino.toString(16)}-${Math.round(stat.mtimeMs * 1000).toString(16)}-${stat.size.toString(16)}`;
    const file = new DiskFile(handle, { size: stat.size, version });
    if (stat.size >= FEWEST_BYTES_NOTED) file.reads = await recent.of(path, `${stat.dev} ${version}`, stat.size);
    return file;
  } finally {
    if (!isServed) await handle.close();
  }
}

/** A file so small is read in one go. */
const FEWEST_BYTES_NOTED = 1024 * 1024;

class DiskFile implements OpenFile {
  readonly size: number;
  readonly version: string;
  /** What is known to be in the kernel's memory; undefined: nothing ever is. */
  reads: FileReads | undefined;
  readonly #handle: FileHandle;

  constructor(handle: FileHandle, { size, version }: Pick<OpenFile, "size" | "version">) {
    this.#handle = handle;
    this.size = size;
    this.version = version;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, this.size - offset)));
    return bytes.subarray(0, await this.#filled(bytes, offset));
  }

  fill(into: Uint8Array, offset: number): number | Promise<number> {
    const length = Math.min(into.length, this.size - offset);
    const read = this.reads?.now(offset, length, () => readSync(this.#handle.fd, into, 0, length, offset));
    if (read === length) return read;
    return this.#filled(into.subarray(0, length), offset).then((filled) => {
      this.reads?.note(offset, filled);
      return filled;
    });
  }

  async #filled(bytes: Uint8Array, offset: number): Promise<number> {
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await this.#handle.read(bytes, filled, bytes.length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return filled;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
