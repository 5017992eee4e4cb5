import { existsSync, globSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@slipway/base";
import type { Entry } from "../../src/netboot/agent/cpio.ts";
import { readElf } from "../image/elf.ts";
import { type Architecture, FIRST_PROGRAMS, KEY_PROGRAMS, PROGRAMS, TARGETS } from "./packages.ts";
import type { Parts } from "./parts.ts";

const PROGRAM = join(import.meta.dirname, "../../src/netboot/agent/program");
const FOLDERS = ["bin", "dev", "etc", "proc", "run", "sys", "tmp", "mnt", "usr/bin", "usr/sbin"];

/** Everything of the agent's Linux but the kernel's modules. `unpacked`: folder of the packages. `version`: what the agent calls itself. */
export function rootEntries(architecture: Architecture, unpacked: string, version: string): Parts<Map<string, Entry>> {
  const first = new Map<string, Entry>(FOLDERS.map((folder) => [folder, { is: "folder" }]));
  // The kernel opens it for the first process before anything is mounted.
  first.set("dev/console", { is: "device", major: 5, minor: 1 });
  first.set("bin/sh", { is: "link", to: "/usr/bin/dash" });
  for (const file of readdirSync(PROGRAM)) {
    const content = readFileSync(join(PROGRAM, file));
    const executable = content.subarray(0, 2).toString() === "#!";
    first.set(file === "init" ? "init" : `agent/${file}`, { is: "file", content, executable });
  }
  first.set("agent/version", { is: "file", content: Buffer.from(`${version}\n`), executable: false });
  const programs = Object.values(PROGRAMS).flat();
  const packed = (files: readonly string[]): Map<string, Entry> => programEntries(files, architecture, unpacked);
  for (const [path, entry] of packed(programs.filter((file) => FIRST_PROGRAMS.has(file)))) first.set(path, entry);
  const rest = packed(programs.filter((file) => !FIRST_PROGRAMS.has(file) && !KEY_PROGRAMS.has(file)));
  const keys = packed([...KEY_PROGRAMS]);
  // Libraries that an earlier part has brought.
  for (const path of first.keys()) rest.delete(path);
  for (const path of [...first.keys(), ...rest.keys()]) keys.delete(path);
  rest.set("etc/ssl/certs/ca-certificates.crt", { is: "file", content: authorities(unpacked), executable: false });
  return { first, rest, keys };
}

/** Programs, and the libraries that they need. */
function programEntries(files: readonly string[], architecture: Architecture, unpacked: string): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  const needs = new Set<string>();
  for (const file of files) {
    const content = readFileSync(join(unpacked, file));
    for (const library of needed(content, file, architecture)) needs.add(library);
    const place = file === "usr/bin/busybox" ? "bin/busybox" : file;
    entries.set(place, { is: "file", content, executable: true });
  }
  addLibraries(entries, needs, architecture, unpacked);
  return entries;
}

/** Who vouches for servers of images on the Internet, as Debian trusts them. */
function authorities(unpacked: string): Buffer {
  const files = globSync(join(unpacked, "usr/share/ca-certificates/mozilla/*.crt")).sort();
  return Buffer.concat(files.map((file) => readFileSync(file)));
}

/** The libraries, and what they need in turn. */
function addLibraries(entries: Map<string, Entry>, needs: Set<string>, architecture: Architecture, unpacked: string) {
  const { triplet, loader } = TARGETS[architecture];
  // Iteration goes on with what is added on the way.
  for (const name of needs) {
    const file = join(unpacked, "usr/lib", triplet, name);
    if (!existsSync(file)) throw new Fault("NotFound", name, "no package of tools/agent/packages.ts has this library");
    const content = readFileSync(realpathSync(file));
    for (const next of needed(content, file, architecture)) needs.add(next);
    const place = loader.endsWith(`/${name}`) ? loader.slice(1) : `usr/lib/${triplet}/${name}`;
    entries.set(place, { is: "file", content, executable: true });
  }
}

function needed(content: Buffer, file: string, architecture: Architecture): string[] {
  const elf = readElf(content);
  if (elf?.architecture !== architecture) throw new Fault("Invalid", file, `it is not made for ${architecture}`);
  return elf.needed;
}
