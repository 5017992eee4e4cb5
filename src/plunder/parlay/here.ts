/** Files and commands of the machine that runs a map. */
import { constants, createReadStream } from "node:fs";
import { lstat, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import type { Readable, Writable } from "node:stream";
import { type Clock, cryptoRandom, Fault, LOWER_CASE, text } from "@slipway/base";
import { type Ended, runChild } from "../ssh/child.ts";
import { LOCAL } from "../ssh/wrapped.ts";

export interface OpenedFile {
  bytes: Readable;
  size: number;
  /** Of its permissions. */
  mode: number;
}

/** A file that comes to be as a whole, or not at all. */
export interface NewFile {
  sink: Writable;
  /** Once the sink has ended. */
  commit(): Promise<void>;
  abandon(): Promise<void>;
}

export interface Here {
  /** Rejects with a `Fault`: `NotFound`, `Forbidden`, `Invalid`. */
  read(path: string): Promise<OpenedFile>;
  /** Its folder is made. Rejects as `read`. */
  write(path: string): Promise<NewFile>;
  /** Rejects with a `Fault`: `Forbidden`, `Timeout`. */
  run(
    command: string,
    how: { timeoutMs: number; signal: AbortSignal; input?: AsyncIterable<Buffer>; sudo?: string },
  ): Promise<Ended>;
}

const MOST_BYTES = 1024 * 1024;
const SUDO = ["-n", "--preserve-env=SLIPWAY_COMMAND", "-u"];

/** All that this user may. Relative paths are of the working folder. */
export function wholeMachine(clock: Clock): Here {
  return {
    read: (path) => opened(resolve(path), path),
    write: async (path) => fresh(await intoFolder(resolve(path)), path),
    run: (command, { sudo, timeoutMs, signal, input }) =>
      runChild(clock, "this machine", {
        command: sudo === undefined ? "sh" : "sudo",
        args: [...(sudo === undefined ? [] : [...SUDO, sudo, "--", "sh"]), "-c", LOCAL],
        env: { SLIPWAY_COMMAND: command },
        ...{ timeoutMs, signal, ...(input && { input }), mostBytes: MOST_BYTES },
      }),
  };
}

/** The files of one folder, by names below it, and no commands: for maps that come over the network. */
export function oneFolder(folder: string): Here {
  return {
    read: async (path) => opened(await within(folder, path), path),
    async write(path) {
      const file = await within(folder, path);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      // Once more: what was made may have been a link meanwhile.
      return fresh(await within(folder, path), path);
    },
    async run() {
      throw new Fault(
        "Forbidden",
        "parlay",
        "commands on the machine that serves the API are not run over the network",
      );
    },
  };
}

/** The file of that name below the folder. Throws a `Fault` for a path that leads, or by a link may lead, elsewhere. */
async function within(folder: string, name: string): Promise<string> {
  const parts = name.split("/");
  const isPlain = parts.every((part) => part !== "" && part !== "." && part !== ".." && !/[\p{C}\\]/u.test(part));
  if (isAbsolute(name) || !isPlain)
    throw new Fault("Forbidden", shown(name), "must be a name below the folder for maps' files, without ..", {
      remedy: `put the file into ${folder} on the machine that serves the API, and name it as it is called there`,
    });
  const root = await realpath(folder);
  for (let length = 1; length <= parts.length; length++) {
    const found = await lstat(join(root, ...parts.slice(0, length))).catch(() => undefined);
    if (found === undefined) break;
    if (found.isSymbolicLink()) throw new Fault("Forbidden", shown(name), "a link is on the way to it");
  }
  const file = join(root, ...parts);
  if (!file.startsWith(root + sep))
    throw new Fault("Forbidden", shown(name), "is not below the folder for maps' files");
  return file;
}

async function opened(file: string, name: string): Promise<OpenedFile> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: NodeJS.ErrnoException) => {
    throw notThere(name, cause);
  });
  const found = await handle.stat();
  if (!found.isFile()) {
    await handle.close();
    throw new Fault("Invalid", shown(name), "is no file");
  }
  return { bytes: createReadStream(file, { fd: handle }), size: found.size, mode: found.mode & 0o777 };
}

/** A path that ends with a slash, or is a folder, has the file of that name in it; here it is a file in any case. */
async function intoFolder(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw new Fault("Invalid", shown(basename(file)), "is a folder: name the file");
  await mkdir(dirname(file), { recursive: true });
  return file;
}

async function fresh(file: string, name: string): Promise<NewFile> {
  const part = `${file}.${text(cryptoRandom, 8, LOWER_CASE)}.part`;
  const handle = await open(part, "wx", 0o600).catch((cause: NodeJS.ErrnoException) => {
    throw notThere(name, cause);
  });
  return {
    sink: handle.createWriteStream(),
    commit: () => rename(part, file),
    abandon: () => rm(part, { force: true }),
  };
}

function notThere(name: string, cause: NodeJS.ErrnoException): Fault {
  if (cause.code === "ENOENT") return new Fault("NotFound", shown(name), "there is no such file", { cause });
  return new Fault("Forbidden", shown(name), `can't be opened (${cause.code})`, { cause });
}

function shown(name: string): string {
  return name.replaceAll(/\p{C}/gu, "?").slice(0, 128);
}
