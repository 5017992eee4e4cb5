import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "@slipway/base";
import { NODE_FLAGS } from "../image/node-binary.ts";
import { run } from "../image/run.ts";

const ROOT = join(import.meta.dirname, "../..");
const PLUGIN = ["kubectl-slipway", "kubectl_complete-slipway"];

/** Writes the bundle as an npm package without dependencies into `folder`, for a Node 24 or newer that is there already. `work`: an empty folder. */
export function writeNpmPackage(folder: string, bundle: string, work: string): string {
  cpSync(bundle, work, { recursive: true });
  mkdirSync(join(work, "bin"));
  for (const name of PLUGIN) cpSync(join(ROOT, "bin", name), join(work, "bin", name));
  const command = join(work, "bin/slipway");
  writeFileSync(command, START);
  chmodSync(command, 0o755);
  for (const name of ["README.md", "LICENSE"]) cpSync(join(ROOT, name), join(work, name));
  const { description, license } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as PackageFile;
  const bin = Object.fromEntries(["slipway", ...PLUGIN].map((name) => [name, `bin/${name}`]));
  const described = { name: "slipway", version: VERSION, description, license, type: "module", bin, engines: ENGINES };
  writeFileSync(join(work, "package.json"), `${JSON.stringify(described, undefined, 2)}\n`);
  return run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: work }).toString().trim();
}

interface PackageFile {
  description: string;
  license: string;
}

const ENGINES = { node: ">=24" };

/** As bin/slipway, with the Node of the PATH. */
const START = `#!/bin/sh
here=$(dirname -- "$(readlink -f -- "$0")")
export MALLOC_ARENA_MAX="\${MALLOC_ARENA_MAX-1}"
exec node ${NODE_FLAGS.join(" ")} "$here/../slipway.mjs" "$@"
`;
