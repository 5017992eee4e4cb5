/**
 * Checks that the list of files that may exceed the linter's limits only shrinks: prints each entry of biome.json's `overrides` whose file
 * no longer exceeds that limit, and ends with 1. New excesses are refused by the linter itself.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Exemption, exemptionsOf, type LinterConfiguration, unneeded } from "./limit-list.ts";

const exemptions = exemptionsOf(JSON.parse(readFileSync("biome.json", "utf8")) as LinterConfiguration);
const finished = unneeded(exemptions, excessesIn(exemptions));
for (const { file, rule } of finished)
  console.error(`${file}: does not exceed ${rule} (any more): take it off the list in biome.json`);
console.log(
  finished.length === 0
    ? `limits: ${exemptions.length} exemptions, all needed`
    : `limits: ${finished.length} exemptions are not needed`,
);
process.exitCode = finished.length === 0 ? 0 : 1;

/** What the linter finds in the exempt files. `--only` runs a rule at the limit that biome.json sets, also where an override turns it off. */
function excessesIn(listed: readonly Exemption[]): Exemption[] {
  const rules = [...new Set(listed.map(({ rule }) => `--only=${rule}`))];
  const files = [...new Set(listed.map(({ file }) => file))];
  if (files.length === 0) return [];
  const args = ["lint", ...rules, "--reporter=json", "--max-diagnostics=none", ...files];
  const { stdout, stderr, error } = spawnSync("node_modules/.bin/biome", args, {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (error !== undefined || stdout === "") throw new Error(`biome printed no report: ${stderr}`, { cause: error });
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: { category: string; location: { path: string } }[];
  };
  return diagnostics.map(({ category, location }) => ({ file: location.path, rule: category.replace(/^lint\//, "") }));
}
