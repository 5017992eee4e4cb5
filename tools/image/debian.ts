import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Elf } from "./elf.ts";
import { run } from "./run.ts";

/** Debian 13, whose security support outlasts that of the Node that is put beside it. */
const RELEASE = "trixie";
export const RELEASE_NUMBER = "13";
const KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** The libraries that Node is linked with; the last one has the copyright of two of them. */
const PACKAGES = ["libc6", "libstdc++6", "libgcc-s1", "gcc-14-base"];

export interface DebianPackage {
  name: string;
  version: string;
  /** Its entry for a scanner of packages. */
  control: string;
}

/** Fetches the packages by apt, which checks their signatures, and unpacks them into `folder`. `cache` keeps what was fetched. */
export function unpackDebian(architecture: Elf["architecture"], cache: string, folder: string): DebianPackage[] {
  const debs = fetch(architecture, join(cache, `debian-${RELEASE}-${architecture}`));
  mkdirSync(folder, { recursive: true });
  for (const deb of debs) run("dpkg-deb", ["--extract", deb, folder]);
  return debs.map((deb) => {
    const field = (name: string): string => run("dpkg-deb", ["--field", deb, name]).toString().trim();
    return { name: field("Package"), version: field("Version"), control: run("dpkg-deb", ["--field", deb]).toString() };
  });
}

/** An apt of its own: neither the lists nor the packages of this machine are touched, and its architecture does not matter. */
function fetch(architecture: string, home: string): string[] {
  const debs = join(home, "debs");
  for (const name of ["state/lists/partial", "cache/archives/partial"])
    mkdirSync(join(home, name), { recursive: true });
  const sources = join(home, "sources.list");
  const source = (path: string): string => `deb [signed-by=${KEYS}] http://deb.debian.org/${path} main\n`;
  writeFileSync(sources, source(`debian ${RELEASE}`) + source(`debian-security ${RELEASE}-security`));
  const settings = {
    "Dir::State": join(home, "state"),
    "Dir::State::status": "/dev/null",
    "Dir::Cache": join(home, "cache"),
    "Dir::Etc::sourcelist": sources,
    "Dir::Etc::sourceparts": "/dev/null",
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "APT::Sandbox::User": "root",
    "Acquire::Languages": "none",
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  run("apt-get", [...options, "update", "-qq", "--error-on=any"]);
  rmSync(debs, { recursive: true, force: true });
  mkdirSync(debs);
  run("apt-get", [...options, "download", "-qq", ...PACKAGES], { cwd: debs });
  return readdirSync(debs)
    .sort()
    .map((name) => join(debs, name));
}
