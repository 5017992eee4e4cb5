import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { DEBIAN } from "../../tools/image/apt.ts";
import { cacheFolder } from "../../tools/image/cache.ts";
import { run } from "../../tools/image/run.ts";
import { findProgram } from "./programs.ts";

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Why no bare Debian can be had here; false where it can. */
export function lackingForRoot(): string | false {
  if (process.getuid?.() !== 0) return "dpkg in a root of its own needs root";
  return findProgram("mmdebstrap") === undefined && "no mmdebstrap: apt-get install mmdebstrap";
}

/** Debian with what it can't be without, unpacked into `folder`: no Node, no systemd. Made once and kept. */
export class BareRoot {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    run("tar", ["-xf", keptArchive(), "-C", folder]);
  }

  at(path: string): string {
    return join(this.folder, path);
  }

  /** The command line that runs a program within. */
  command(args: readonly string[]): string[] {
    return ["chroot", this.folder, ...args];
  }

  inside(...args: string[]): Ended {
    const [program, ...rest] = this.command(args);
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", DEBIAN_FRONTEND: "noninteractive" };
    return spawnSync(program!, rest, { encoding: "utf8", env, timeout: 400_000 });
  }
}

function keptArchive(): string {
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const file = join(cacheFolder(), `../test-root/${DEBIAN.name}-${architecture}.tar`);
  if (existsSync(file)) return file;
  mkdirSync(dirname(file), { recursive: true });
  run("mmdebstrap", ["--quiet", "--variant=minbase", "--mode=root", "--format=tar", DEBIAN.name, `${file}.new`]);
  renameSync(`${file}.new`, file);
  return file;
}
