import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../../src/netboot/agent/cpio.ts";

/** As the kernel looks for a file (CONFIG_FW_LOADER_COMPRESS). */
const ENDINGS = ["", ".xz", ".zst"];

/** Not: what a card has of its own, and the driver would write to it anew; and what is asked for only where the newer one is missing. */
const LEFT = [/^cxgb4\//, /^bnx2x\/.*-7\.13\.15\.0\.fw$/];

/** Of the files that drivers may ask for, the ones that the packages have. `unpacked`: folder of the packages. */
export function firmwareEntries(names: readonly string[], unpacked: string): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const name of [...new Set(names)].filter((name) => !LEFT.some((left) => left.test(name))).sort())
    for (const file of ENDINGS.map((ending) => name + ending)) {
      const source = join(unpacked, "usr/lib/firmware", file);
      // Links are followed: a name is what the driver asks for.
      if (existsSync(source))
        entries.set(`lib/firmware/${file}`, { is: "file", content: readFileSync(source), executable: false });
    }
  return entries;
}
