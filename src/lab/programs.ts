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

/** Throws a `Fault` that names every missing package, when something that these firmwares need is not installed. */
export async function checkInstalled(
  firmwares: Iterable<Firmware>,
  path: string,
  { hasTpms = false }: { hasTpms?: boolean } = {},
): Promise<void> {
  const missing = await missingPackages(firmwares, path, { hasTpms });
  if (missing.length === 0) return;
  throw new Fault("MissingInput", "lab", `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not installed`, {
    remedy: `apt-get install --no-install-recommends ${missing.join(" ")}`,
  });
}

/** Debian packages that these firmwares need and that are not installed. `path` as in the environment. */
export async function missingPackages(
  firmwares: Iterable<Firmware>,
  path: string,
  { hasTpms = false }: { hasTpms?: boolean } = {},
): Promise<string[]> {
  const folders = [...path.split(delimiter).filter((folder) => folder !== ""), ...MORE_FOLDERS];
  const missing = new Set<string>();
  const always = { ...ALWAYS, ...(hasTpms && { swtpm: "swtpm" }) };
  for (const [program, from] of Object.entries(always)) if (!(await hasProgram(program, folders))) missing.add(from);
  for (const firmware of new Set(firmwares)) {
    const { program, flash, rom, packages } = FIRMWARE_FILES[firmware];
    const files = [flash?.code, flash?.variables, rom].filter((file) => file !== undefined);
    if (!(await hasProgram(program, folders))) missing.add(packages[0]!);
    for (const file of files) if (!(await allowed(file, constants.R_OK))) missing.add(packages[1]!);
  }
  return [...missing];
}

async function hasProgram(program: string, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) if (await allowed(join(folder, program), constants.X_OK)) return true;
  return false;
}

async function allowed(file: string, mode: number): Promise<boolean> {
  return access(file, mode).then(
    () => true,
    () => false,
  );
}
