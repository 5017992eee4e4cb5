import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@slipway/base";
import type { Elf } from "./elf.ts";
import { run } from "./run.ts";

/** The stable release: its security support outlasts that of older ones and of the Node that is put beside it, and its kernel knows newer hardware. */
export const DEBIAN = { name: "trixie", number: "13" };
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

  /** Throws a `Fault` where Debian's keys are not installed. `components`: parts of the archive. */
  constructor(home: string, architecture: Elf["architecture"], components = "main") {
    this.#home = home;
    if (!existsSync(KEYS))
      throw new Fault("NotFound", KEYS, "packages can't be checked without Debian's keys", {
        remedy: "apt-get install debian-archive-keyring",
      });
    for (const folder of ["state/lists/partial", "cache/archives/partial", "debs"])
      mkdirSync(join(home, folder), { recursive: true });
    const sources = join(home, "sources.list");
    const source = (path: string): string => `deb [signed-by=${KEYS}] http://deb.debian.org/${path} ${components}\n`;
    writeFileSync(sources, source(`debian ${DEBIAN.name}`) + source(`debian-security ${DEBIAN.name}-security`));
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

  /** Fetches what is not here yet, to the byte; paths of the files, in the order asked for. Others, of earlier times, go. */
  fetch(packages: readonly Candidate[]): string[] {
    const folder = join(this.#home, "debs");
    const wanted = new Map(packages.map(({ file, sha256 }) => [file, sha256]));
    for (const file of readdirSync(folder))
      if (wanted.get(file) !== sha256Of(join(folder, file))) rmSync(join(folder, file));
    const here = new Set(readdirSync(folder));
    const missing = packages.filter(({ file }) => !here.has(file)).map(({ name, version }) => `${name}=${version}`);
    if (missing.length > 0) run("apt-get", [...this.#options, "download", "-qq", ...missing], { cwd: folder });
    return packages.map(({ file }) => join(folder, file));
  }
}

const sha256Of = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");
