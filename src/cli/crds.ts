import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { apiReference } from "../kinds/api-reference.ts";
import { DEFAULT_SYSTEMS } from "../operator/defaults.ts";
import { clusterctlFiles } from "../operator/install/clusterctl.ts";
import { installFiles } from "../operator/install/files.ts";
import { ALL_KINDS, ownKinds } from "../operator/kinds.ts";
import { observabilityFiles } from "../operator/observability/files.ts";
import { systemsOf } from "../operator/operator.ts";
import { settingsReference } from "../operator/settings-reference.ts";
import { SYSTEMS } from "../operator/systems.ts";
import type { System } from "../systems/system.ts";
import { namesOf } from "./option-values.ts";
import type { Verb } from "./verb.ts";

/** `slipway crds`: prints or writes what is generated; with `--check` it fails if a file differs from it. */
export const verb: Verb = (program) => {
  program
    .command("crds")
    .description(
      "Print the CustomResourceDefinitions, or write all that is generated: they, manifests, chart, references.",
    )
    .option(
      "--write <root>",
      "write what is generated under <root>/deploy, <root>/docs/api.md, settings.md and metrics.md",
    )
    .option(
      "--systems <names>",
      `only what these systems need, of: ${DEFAULT_SYSTEMS.join(", ")}`,
      namesOf(DEFAULT_SYSTEMS),
    )
    .option("--check <root>", "fail when what lies there is not what would be written")
    .option(
      "--clusterctl <folder>",
      "write the local repository from which clusterctl init installs Slipway's providers",
    )
    .addHelpText(
      "after",
      `
Examples:
  slipway crds | kubectl apply -f -
  slipway crds --write .
  slipway crds --systems ${DEFAULT_SYSTEMS[0]} --write /tmp/one
  slipway crds --clusterctl dist/clusterctl
  slipway crds --check .`,
    )
    .action(async ({ write, check, systems, clusterctl }: CrdsOptions) => {
      if (clusterctl !== undefined) return await writeRepository(resolve(clusterctl));
      const files = generated(systemsOf(systems));
      if (check !== undefined) return await compare(files, check);
      if (write === undefined)
        return void process.stdout.write(
          [...files]
            .filter(([name]) => name.startsWith("deploy/crds/"))
            .map(([, text]) => `---\n${text}`)
            .join(""),
        );
      for (const [name, text] of files) {
        await mkdir(join(write, name, ".."), { recursive: true });
        await writeFile(join(write, name), text);
      }
      console.log(`crds: ${files.size} files written`);
    });
};

interface CrdsOptions {
  write?: string;
  check?: string;
  systems?: string[];
  clusterctl?: string;
}

/** Paths in clusterctl's configuration are absolute: the folder stays where it is. */
async function writeRepository(root: string): Promise<void> {
  for (const [path, text] of clusterctlFiles(root)) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const command = "clusterctl init --infrastructure packet --control-plane kamaji --config";
  console.log(`${command} ${join(root, "clusterctl.yaml")}`);
}

/** Path below the root → text. */
function generated(systems: readonly System[]): Map<string, string> {
  const files = installFiles(ownKinds(systems), systems)
    .set("docs/api.md", apiReference(ALL_KINDS.flat()))
    .set("docs/settings.md", settingsReference(SYSTEMS));
  for (const [name, text] of observabilityFiles(SYSTEMS)) files.set(name, text);
  return files;
}

async function compare(files: ReadonlyMap<string, string>, root: string): Promise<void> {
  const stale: string[] = [];
  for (const [name, text] of files) {
    const held = await readFile(join(root, name), "utf8").catch(() => undefined);
    if (held !== text) stale.push(name);
  }
  // A file of the chart that is no longer made would still be installed.
  const deployed = await readdir(join(root, "deploy"), { recursive: true, withFileTypes: true }).catch(() => []);
  const left = deployed
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((name) => !files.has(name));
  if (left.length > 0) {
    console.error(`slipway: not generated, remove it from deploy: ${left.join(", ")}`);
    process.exitCode = 1;
  }
  if (stale.length > 0) {
    console.error(`slipway: generated files are out of date: ${stale.join(", ")}; run \`make generate\``);
    process.exitCode = 1;
  }
  if (stale.length + left.length > 0) return;
  console.log(`crds: ${files.size} generated files are up to date`);
}
