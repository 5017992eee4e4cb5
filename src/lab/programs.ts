import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { Fault } from "@slipway/base";
import { FIRMWARE_FILES } from "./firmware-files.ts";
import type { Firmware } from "./machine.ts";

/** What every lab needs beside QEMU: program to Debian package. */
const ALWAYS: Readonly<Record<string, string>> = { unshare: "util-linux", setpriv: "util-linux", ip: "iproute2" };

/** Administrators' programs are not on everybody's path. */
const MORE_FOLDERS = ["/usr/sbin", "/sbin"];

/** What a lab needs beside firmware. */
export interface Needs {
  hasTpms?: boolean;
  /** Further programs, each with its Debian package. */
  programs?: Readonly<Record<string, string>>;
}

/** Throws a `Fault` that names every missing package, when something that these firmwares need is not installed. */
export async function checkInstalled(firmwares: Iterable<Firmware>, path: string, needs: Needs = {}): Promise<void> {
  const missing = await missingPackages(firmwares, path, needs);
  if (missing.length === 0) return;
  throw new Fault("MissingInput", "lab", `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not installed`, {
    remedy: `apt-get install --no-install-recommends ${missing.join(" ")}`,
  });
}

/** Debian packages that these firmwares need and that are not installed. `path` as in the environment. */
export async function missingPackages(
  firmwares: Iterable<Firmware>,
  path: string,
  { hasTpms = false, programs = {} }: Needs = {},
): Promise<string[]> {
  const folders = foldersOf(path);
  const missing = new Set<string>();
  const always = { ...ALWAYS, ...(hasTpms && { swtpm: "swtpm" }), ...programs };
  for (const [program, from] of Object.entries(always)) if (!(await hasProgram(program, folders))) missing.add(from);
  for (const firmware of new Set(firmwares)) {
    const { program, flash, rom, packages } = FIRMWARE_FILES[firmware];
    const files = [flash?.code, flash?.variables, rom].filter((file) => file !== undefined);
    if (!(await hasProgram(program, folders))) missing.add(packages[0]!);
    for (const file of files) if (!(await allowed(file, constants.R_OK))) missing.add(packages[1]!);
  }
  return [...missing];
}

/** Where a program is; undefined: nowhere. `path` as in the environment. */
export async function programFile(program: string, path: string): Promise<string | undefined> {
  return await fileIn(program, foldersOf(path));
}

function foldersOf(path: string): string[] {
  return [...path.split(delimiter).filter((folder) => folder !== ""), ...MORE_FOLDERS];
}

async function hasProgram(program: string, folders: readonly string[]): Promise<boolean> {
  return (await fileIn(program, folders)) !== undefined;
}

async function fileIn(program: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const file = join(folder, program);
    if (await allowed(file, constants.X_OK)) return file;
  }
  return undefined;
}

async function allowed(file: string, mode: number): Promise<boolean> {
  return access(file, mode).then(
    () => true,
    () => false,
  );
}
