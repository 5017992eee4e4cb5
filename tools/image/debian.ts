import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Apt, DEBIAN } from "./apt.ts";
import type { Elf } from "./elf.ts";
import { run } from "./run.ts";

/** The libraries that Node and perl are linked with, the package that has the copyright of two of them, and perl. */
const PACKAGES = ["libc6", "libstdc++6", "libgcc-s1", "gcc-14-base", "libcrypt1", "perl-base"];

export interface DebianPackage {
  name: string;
  version: string;
  /** Its entry for a scanner of packages. */
  control: string;
}

/** Fetches the packages by apt, which checks their signatures, and unpacks them into `folder`. `cache` keeps what was fetched. */
export function unpackDebian(architecture: Elf["architecture"], cache: string, folder: string): DebianPackage[] {
  const apt = new Apt(join(cache, `debian-${DEBIAN.name}-${architecture}`), architecture);
  apt.update();
  const debs = apt.fetch(apt.alone(PACKAGES));
  mkdirSync(folder, { recursive: true });
  for (const deb of debs) run("dpkg-deb", ["--extract", deb, folder]);
  return debs.map((deb) => {
    const field = (name: string): string => run("dpkg-deb", ["--field", deb, name]).toString().trim();
    return { name: field("Package"), version: field("Version"), control: run("dpkg-deb", ["--field", deb]).toString() };
  });
}
