import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../src/base/fault.ts";
import { run } from "../image/run.ts";
import type { Architecture } from "./packages.ts";

/** The stable release: its security support outlasts that of older ones, and its kernel knows newer hardware. */
const RELEASE = "trixie";
const KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** A package as the archive has it now. */
export interface Candidate {
  name: string;
  version: string;
  /** The file's name, as apt writes it. */
  file: string;
  /** As in the signed index. */
  sha256: string;
}

/**
 * An apt of its own: neither the lists nor the packages of this machine are read or touched, and its architecture does not matter.
 * Any user may run it. What is fetched has been checked against the archive's signatures.
 */
export class Apt {
  readonly #home: string;
  readonly #options: readonly string[];

  constructor(home: string, architecture: Architecture) {
    this.#home = home;
    for (const folder of ["state/lists/partial", "cache/archives/partial", "debs"])
      mkdirSync(join(home, folder), { recursive: true });
    const sources = join(home, "sources.list");
    const source = (path: string): string => `deb [signed-by=${KEYS}] http://deb.debian.org/${path} main\n`;
    writeFileSync(sources, source(`debian ${RELEASE}`) + source(`debian-security ${RELEASE}-security`));
    const settings = {
      "Dir::State": join(home, "state"),
      "Dir::State::status": "/dev/null",
      "Dir::Cache": join(home, "cache"),
      "Dir::Etc::sourcelist": sources,
      "Dir::Etc::sourceparts": "/dev/null",
      "Dir::Etc::preferencesparts": "/dev/null",
      "APT::Architecture": architecture,
      "APT::Architectures": architecture,
      "APT::Sandbox::User": "root",
      "APT::Install-Recommends": "false",
      "Acquire::Languages": "none",
    };
    this.#options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  }

  /** Reads the archive's lists anew. */
  update(): void {
    run("apt-get", [...this.#options, "update", "-qq", "--error-on=any"]);
  }

  /** The packages and all that they depend on. */
  withDependencies(names: readonly string[]): Candidate[] {
    const printed = run("apt-get", [...this.#options, "-qq", "--print-uris", "install", "--yes", ...names]).toString();
    return this.alone([...printed.matchAll(/^'[^']+' ([^_ ]+)_\S+ \d+ /gm)].map(([, name]) => name!));
  }

  /** The packages alone. */
  alone(names: readonly string[]): Candidate[] {
    const printed = run("apt-get", [...this.#options, "-qq", "--print-uris", "download", ...names]).toString();
    return [...printed.matchAll(/^'[^']+' (([^_ ]+)_([^_ ]+)_\S+) \d+ SHA256:([0-9a-f]{64})$/gm)]
      .map(([, file = "", name = "", version = "", sha256 = ""]) => ({
        name,
        version: decodeURIComponent(version),
        file,
        sha256,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** What a package that only points to another one points to, such as a kernel's. */
  pointedToBy(name: string, pattern: RegExp): string {
    const depends = run("apt-cache", [...this.#options, "depends", name]).toString();
    const target = [...depends.matchAll(/^ {2}Depends: (\S+)$/gm)].map(([, to]) => to!).find((to) => pattern.test(to));
    if (target === undefined) throw new Fault("NotFound", name, `the package does not lead to any ${pattern.source}`);
    return target;
  }

  /** Fetches what is not here yet; paths of the files, in the order asked for. Others, of earlier times, go. */
  fetch(packages: readonly Candidate[]): string[] {
    const folder = join(this.#home, "debs");
    const wanted = new Set(packages.map(({ file }) => file));
    for (const name of readdirSync(folder)) if (!wanted.has(name)) rmSync(join(folder, name), { recursive: true });
    const here = new Set(readdirSync(folder));
    const missing = packages.filter(({ file }) => !here.has(file)).map(({ name, version }) => `${name}=${version}`);
    if (missing.length > 0) run("apt-get", [...this.#options, "download", "-qq", ...missing], { cwd: folder });
    return packages.map(({ file }) => join(folder, file));
  }
}
