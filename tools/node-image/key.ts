import { createHash } from "node:crypto";
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Candidate } from "../image/apt.ts";

const ROOT = join(import.meta.dirname, "../..");
const OURS = [
  "tools/node-image/*.ts",
  "tools/node-image/{root,initramfs,cloud-init}/**/*",
  "tools/agent/{drivers,firmware,modinfo,modules,packages}.ts",
  "tools/image/{apt,elf,oci,run,tar}.ts",
  "src/netboot/agent/cpio.ts",
  "src/bootstrap/kubeadm/core-dns.ts",
];

/** Changes with whatever goes into the image: packages, programs, our files, and what puts them together. */
export function keyOf(packages: readonly Candidate[], programs: readonly string[]): string {
  const hash = createHash("sha256");
  hash.update(JSON.stringify(packages.map(({ name, sha256 }) => [name, sha256])));
  for (const file of programs) hash.update(createHash("sha256").update(readFileSync(file)).digest());
  for (const file of ourFiles()) hash.update(`\n${file}\n`).update(readFileSync(join(ROOT, file)));
  return hash.digest("hex");
}

function ourFiles(): string[] {
  return globSync(OURS, { cwd: ROOT })
    .filter((file) => !/\.test\.ts$|node-image\/(main|place)\.ts$/.test(file) && statSync(join(ROOT, file)).isFile())
    .sort();
}
