import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Fault } from "@slipway/base";
import { DEBIAN } from "./apt.ts";
import type { DebianPackage } from "./debian.ts";
import { type Elf, readElf } from "./elf.ts";

const TRIPLETS: Readonly<Record<Elf["architecture"], string>> = {
  amd64: "x86_64-linux-gnu",
  arm64: "aarch64-linux-gnu",
};

/** Where the bundle lies in the image. */
export const HOME = "/usr/lib/slipway";

/** The user that the image runs as, without a password, a shell or a home. */
export const NOBODY = 65_532;

const FILES: Readonly<Record<string, string>> = {
  "etc/passwd": `root:x:0:0:root:/:/sbin/nologin\nslipway:x:${NOBODY}:${NOBODY}:slipway:/:/sbin/nologin\n`,
  "etc/group": `root:x:0:\nslipway:x:${NOBODY}:\n`,
  "etc/nsswitch.conf": "hosts: files dns\n",
  // By it, scanners find the packages of var/lib/dpkg/status.d in the right list of holes.
  "etc/os-release": `NAME="Debian GNU/Linux"\nID=debian\nVERSION_ID="${DEBIAN.number}"\n`,
};

/** What perl needs for `use strict; use Socket`, where netboot does by it what Node can't (src/netboot/sockets, solicitations). */
const PERL_MODULES = [
  ...[
    "strict.pm",
    "warnings.pm",
    "warnings/register.pm",
    "overloading.pm",
    "Carp.pm",
    "Exporter.pm",
    "Exporter/Heavy.pm",
  ],
  ...["XSLoader.pm", "Socket.pm", "auto/Socket/Socket.so"],
];

export interface Ingredients {
  architecture: Elf["architecture"];
  /** Folders with what was unpacked. */
  debian: string;
  node: string;
  packages: readonly DebianPackage[];
}

/** The layer that seldom changes: Node, perl, their loader and the libraries that they need, and the copyrights. */
export function writeBase(root: string, { architecture, debian, node, packages }: Ingredients): void {
  for (const folder of ["usr/bin", "usr/lib", "usr/lib64", "var/lib/dpkg/status.d"])
    mkdirSync(join(root, folder), { recursive: true });
  for (const folder of ["bin", "lib", "lib64"]) symlinkSync(`usr/${folder}`, join(root, folder));
  for (const [name, text] of Object.entries(FILES)) write(join(root, name), text);

  copy(join(node, "bin/node"), join(root, "usr/bin/node"));
  copy(join(node, "LICENSE"), join(root, "usr/share/doc/nodejs/copyright"));
  const program = elfOf(join(node, "bin/node"), architecture);
  const loader = program.interpreter!;
  copy(join(debian, "usr", loader), join(root, "usr", loader));
  const way = { from: debian, to: root, architecture, loader };
  copyLibraries(program.needed, way);
  copyPerl(way);

  for (const { name, control } of packages) {
    write(join(root, "var/lib/dpkg/status.d", name), control);
    const copyright = join("usr/share/doc", name, "copyright");
    if (existsSync(join(debian, copyright))) copy(join(debian, copyright), join(root, copyright));
  }
}

/** The layer of each release: the bundle, and the command's name on the path. */
export function writeProgram(root: string, bundle: string): void {
  cpSync(bundle, join(root, HOME), { recursive: true });
  const command = join(root, "usr/bin/slipway");
  write(command, `#!/usr/bin/node\nimport("${HOME}/slipway.mjs");\n`);
  chmodSync(command, 0o755);
}

interface Way {
  from: string;
  to: string;
  architecture: Elf["architecture"];
  loader: string;
}

function copyPerl(way: Way): void {
  const program = "usr/bin/perl";
  copy(join(way.from, program), join(way.to, program));
  copyLibraries(elfOf(join(way.from, program), way.architecture).needed, way);
  const modules = join("usr/lib", TRIPLETS[way.architecture], "perl-base");
  for (const name of PERL_MODULES) copy(join(way.from, modules, name), join(way.to, modules, name));
}

/** The libraries, and what they need in turn. The loader is there already. */
function copyLibraries(names: readonly string[], way: Way): void {
  const folder = join("usr/lib", TRIPLETS[way.architecture]);
  for (const name of names) {
    const target = join(way.to, folder, name);
    if (existsSync(target) || way.loader.endsWith(`/${name}`)) continue;
    const source = join(way.from, folder, name);
    if (!existsSync(source)) throw new Fault("NotFound", name, "no package of tools/image/debian.ts has this library");
    copy(source, target);
    copyLibraries(elfOf(source, way.architecture).needed, way);
  }
}

function elfOf(file: string, architecture: Elf["architecture"]): Elf {
  const elf = readElf(readFileSync(file));
  if (elf?.architecture !== architecture) throw new Fault("Invalid", file, `it is not made for ${architecture}`);
  return elf;
}

/** Links are followed: a library is a file under the name that programs ask for. */
function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
