import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "@slipway/base";
import type { Candidate } from "../image/apt.ts";

const ROOT = join(import.meta.dirname, "../..");
const OURS = ["tools/agent/*.ts", "tools/image/{apt,elf,run}.ts", "src/netboot/agent/{program/*,cpio.ts}"];

/** Changes with whatever goes into the files: the packages, the agent's program, and the program that packs them with its compressor (all but who runs it). */
export function keyOf(packages: readonly Candidate[]): string {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([VERSION, process.versions.zstd, packages.map(({ name, sha256 }) => [name, sha256])]));
  for (const file of ourFiles()) hash.update(`\n${file}\n`).update(readFileSync(join(ROOT, file)));
  return hash.digest("hex");
}

/** What an agent calls itself: the release, and a word for the program's own content, which may change between releases. */
export function agentVersion(): string {
  const hash = createHash("sha256");
  for (const file of ourFiles()) hash.update(readFileSync(join(ROOT, file)));
  return `${VERSION}+${hash.digest("hex").slice(0, 8)}`;
}

function ourFiles(): string[] {
  return globSync(OURS, { cwd: ROOT })
    .filter((file) => !/\.test\.ts$|\/(main|one-at-a-time)\.ts$/.test(file))
    .sort();
}
