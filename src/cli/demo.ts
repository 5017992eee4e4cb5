import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import { systemClock } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";
import { jsonLog, Secrets } from "../base/log.ts";
import { Instance } from "../kinds/harvester/instance.ts";
import { InstancePool } from "../kinds/harvester/instance-pool.ts";
import type { Client } from "../kube/client.ts";
import type { KubeObject } from "../kube/object.ts";
import { applyObjects } from "./apply.ts";
import { type Laptop, startLaptop } from "./laptop.ts";
import type { Verb } from "./main.ts";
import { Progress, printed, progressRows } from "./progress.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples", import.meta.url));
const LOOK_MS = 200;

export const verb: Verb = (program) => {
  program
    .command("demo")
    .description("Apply all examples on simulated metal, show their progress, and end when everything is ready.")
    .option("--examples <folder>", "manifests to apply", EXAMPLES)
    .option("--timeout <seconds>", "give up after this long", "60")
    .option("--speed <factor>", "how many times faster than real metal the simulated one is", "200")
    .option("-v, --verbose", "log what the operator does, on standard error")
    .action(async (options: { examples: string; timeout: string; speed: string; verbose?: boolean }) => {
      const secrets = new Secrets();
      const log = jsonLog({ level: options.verbose ? "info" : "silent", secrets });
      const objects = await manifests(options.examples);
      const laptop = await startLaptop({
        dir: undefined,
        host: "127.0.0.1",
        port: 0,
        speed: Number(options.speed),
        log,
        secrets,
      });
      try {
        console.log(`Kubernetes API on ${laptop.url}, ${objects.length} objects from ${options.examples}`);
        process.exitCode = (await run(laptop, objects, Number(options.timeout) * 1000)) ? 0 : 1;
      } finally {
        await laptop.close();
      }
    });
};

async function run({ client }: Laptop, objects: readonly KubeObject[], timeoutMs: number): Promise<boolean> {
  const began = systemClock.now();
  const elapsed = (): number => systemClock.now() - began;
  await applyObjects(client, objects);
  const progress = new Progress(process.stdout, () => elapsed() / 1000);
  for (;;) {
    const { pools, instances } = await look(client);
    progress.show(progressRows(pools, instances));
    if (isDone(pools, instances)) {
      console.log(`\n${printed(InstancePool, pools).join("\n")}\n\n${printed(Instance, instances).join("\n")}`);
      console.log(`\nready after ${(elapsed() / 1000).toFixed(1)} s`);
      return true;
    }
    if (elapsed() > timeoutMs) {
      console.error(`\nnot ready after ${timeoutMs / 1000} s. What is waited for:`);
      for (const row of progressRows(pools, instances))
        console.error(`  ${row.name.trim()}: ${row.status}: ${row.doing}`);
      return false;
    }
    await systemClock.sleep(LOOK_MS);
  }
}

async function look(client: Client): Promise<{ pools: InstancePool[]; instances: Instance[] }> {
  const [pools, instances] = await Promise.all([client.list(InstancePool), client.list(Instance)]);
  return { pools: pools.items, instances: instances.items };
}

/** Every pool complete, every machine a Node. A pool without a status has not been looked at yet. */
function isDone(pools: readonly InstancePool[], instances: readonly Instance[]): boolean {
  return (
    pools.length > 0 &&
    pools.every(
      (pool) => pool.status?.status === "ready" && pool.status.observedGeneration === pool.metadata.generation,
    ) &&
    instances.every((instance) => instance.status?.status === "managed")
  );
}

/** All objects of the YAML files below a folder, file by file in the order of their names. */
async function manifests(folder: string): Promise<KubeObject[]> {
  const files = (await readdir(folder, { recursive: true })).filter((name) => /\.ya?ml$/.test(name)).sort();
  if (files.length === 0) throw new Fault("MissingInput", folder, "there are no manifests (*.yaml) here");
  const objects: KubeObject[] = [];
  for (const file of files) {
    const path = join(folder, file);
    const read = loadAll(await readFile(path, "utf8")) as (KubeObject | null)[];
    objects.push(...read.filter((object) => object !== null));
  }
  return objects;
}
