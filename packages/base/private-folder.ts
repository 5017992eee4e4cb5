import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "./fault.ts";

/** What everybody but the owner may do. */
const OTHERS = 0o077;

const REMEDY = "choose another folder, or, if you trust what is in it, change its owner with chown -R";

/**
 * Makes the folder for state, or takes the one that is there: open to its owner alone (0700) in any case. Throws a `Fault` (`Refused`)
 * when it belongs to another user, is a link that another user made, or was open to others and holds what another user put there: they
 * could read what is written to it, or have it written elsewhere.
 */
export function privateFolder(path: string): void {
  makeFolder(path);
  checkOwner(path, lstatSync(path));
  const found = statSync(path);
  checkOwner(path, found);
  if ((found.mode & OTHERS) === 0) return;
  // First, so that nothing is added while it is looked through.
  chmodSync(path, found.mode & 0o7777 & ~OTHERS);
  for (const name of readdirSync(path)) checkOwner(join(path, name), lstatSync(join(path, name)));
}

/** Node's own `recursive` calls a read-only file system a missing folder, and never ends below /proc. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = dirname(path);
    if (code === "EEXIST" && statSync(path).isDirectory()) return;
    if (code !== "ENOENT" || existsSync(parent)) throw error;
    makeFolder(parent);
    mkdirSync(path, { mode: 0o700 });
  }
}

/**
 * Makes a file for state (0600) that another writer, SQLite say, opens afterwards, or narrows the one that is there. `ifThere`: makes
 * none. Throws a `Fault` (`Refused`) when it belongs to another user or is a link.
 */
export function privateFile(path: string, { ifThere = false } = {}): void {
  const create = ifThere ? 0 : constants.O_CREAT;
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | create, 0o600);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (ifThere && code === "ENOENT") return;
    if (code === "ELOOP") throw new Fault("Refused", path, "it is a link, not a file", { remedy: REMEDY, cause });
    throw cause;
  }
  try {
    const found = fstatSync(fd);
    checkOwner(path, found);
    if ((found.mode & OTHERS) !== 0) fchmodSync(fd, found.mode & 0o7777 & ~OTHERS);
  } finally {
    closeSync(fd);
  }
}

/**
 * Replaces the file as a whole, 0600 whatever it was before: at any moment, also after a loss of power, it is the old one or the new
 * one. A link is replaced, not followed. For a folder that is `privateFolder`.
 */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  const handle = await open(fresh, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(fresh, path);
}

function checkOwner(path: string, { uid }: Stats): void {
  const own = process.geteuid?.();
  if (own === undefined || uid === own) return;
  throw new Fault("Refused", path, `it belongs to another user (uid ${uid}; this is uid ${own})`, { remedy: REMEDY });
}
