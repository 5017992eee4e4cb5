/**
 * Writes `dist/packages` from the bundle of `tools/bundle.ts`: for amd64 and arm64 one executable that needs no Node and a Debian package
 * with it, an npm package, a bill of materials, and checksums of all. Needs npm, dpkg-deb and GNU tar. Argument: another folder than `dist`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault, VERSION } from "@slipway/base";
import { cacheFolder } from "../image/cache.ts";
import { unpackNode } from "../image/node-binary.ts";
import { billOf, type Component, nodeComponent } from "./bill.ts";
import { writeChecksums } from "./checksums.ts";
import { writeDebianPackage } from "./debian-package.ts";
import { applicationOf, writeExecutable } from "./executable.ts";
import { writeNpmPackage } from "./npm-package.ts";

const ROOT = join(import.meta.dirname, "../..");
const dist = process.argv[2] ?? join(ROOT, "dist");
const bundle = join(dist, "bundle");
const packages = join(dist, "packages");
const work = mkdtempSync(join(tmpdir(), "slipway-packages-"));
const emptyFolder = (name: string): string => {
  mkdirSync(join(work, name), { recursive: true });
  return join(work, name);
};
try {
  rmSync(packages, { recursive: true, force: true });
  mkdirSync(packages, { recursive: true });
  const application = applicationOf(bundle);
  const files = [writeNpmPackage(packages, bundle, emptyFolder("npm"))];
  const nodes: Component[] = [];
  for (const architecture of ["amd64", "arm64"] as const) {
    const folder = join(work, `node-${architecture}`);
    const version = unpackNode(architecture, cacheFolder(), folder);
    if (`v${version}` !== process.version)
      throw new Fault("Invalid", `node ${version}`, `the application is made by ${process.version}`, {
        remedy: "npm ci, and run it by make packages",
      });
    nodes.push(nodeComponent(version, architecture));
    const executable = `slipway-${VERSION}-linux-${architecture}`;
    writeExecutable(join(packages, executable), join(folder, "bin/node"), application);
    const debian = `slipway_${VERSION}_${architecture}.deb`;
    writeDebianPackage(join(packages, debian), {
      architecture,
      executable: join(packages, executable),
      licences: [join(ROOT, "LICENSE"), join(bundle, "LICENSES.txt"), join(folder, "LICENSE")],
      work: emptyFolder(`debian-${architecture}`),
    });
    files.push(executable, debian);
  }
  const bill = billOf(bundle, join(ROOT, "package-lock.json"), nodes);
  const billFile = `slipway-${VERSION}.cdx.json`;
  writeFileSync(join(packages, billFile), `${JSON.stringify(bill, undefined, 2)}\n`);
  writeChecksums(join(packages, "SHA256SUMS"), packages, [...files, billFile]);
  console.log(`packages: ${files.length} in ${packages}, of ${bill.components.length} components`);
} catch (error) {
  if (!(error instanceof Fault)) throw error;
  console.error(`packages: ${error.advice}`);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
