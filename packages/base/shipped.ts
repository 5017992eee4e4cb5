/**
 * What ships beside the code. The single executable (tools/packages) carries the bundle's files as assets of Node's single executable
 * applications: code is loaded from memory, and a folder is unpacked when it is asked for.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { getAssetKeys, getRawAsset, isSea } from "node:sea";

/** Where the executable's modules say they are. There is no such folder. */
export const SHIPPED_HOME = "/slipway";

/** A folder that ships beside the code, by the place that its source has. The executable unpacks it into a private one that ends with the process. */
export function shippedFolder(path: string): string {
  if (!isSea()) return path;
  const within = `${relative(SHIPPED_HOME, path)}/`;
  const names = getAssetKeys().filter((name) => name.startsWith(within));
  if (names.length === 0) return path;
  unpacked ??= privateTemporary();
  for (const name of names) {
    const file = join(unpacked, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, new Uint8Array(getRawAsset(name)));
  }
  return join(unpacked, within);
}

/** Where this process has unpacked what it was asked for. */
let unpacked: string | undefined;

function privateTemporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "slipway-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The command line by which this very command is started again, without its arguments. */
export function ownCommand(): string[] {
  return isSea() ? [process.execPath] : [process.execPath, ...process.execArgv, process.argv[1]!];
}
