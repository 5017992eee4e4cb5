import { fileURLToPath } from "node:url";
import { systemClock } from "../base/clock.ts";
import { jsonLog, Secrets } from "../base/log.ts";
import { Instance } from "../kinds/harvester/instance.ts";
import { InstancePool } from "../kinds/harvester/instance-pool.ts";
import type { Client } from "../kube/client.ts";
import type { KubeObject } from "../kube/object.ts";
import { applyObjects } from "./apply.ts";
import { type Laptop, startLaptop } from "./laptop.ts";
import { type KubernetesChoice, kubernetesOption } from "./laptop-kubernetes.ts";
import { readManifests } from "./manifests.ts";
import { positiveNumber } from "./option-values.ts";
import { Progress, printed, progressRows } from "./progress.ts";
import { SIGNAL_EXIT, type Signal, untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

/** `examples/rack` is for metal that can be touched. */
const EXAMPLES = fileURLToPath(new URL("../../examples/harvester", import.meta.url));
const LOOK_MS = 200;

export const verb: Verb = (program) => {
  program
    .command("demo")
    .description(
      "Apply the examples of all systems on simulated metal, show their progress, and end when everything is ready.",
    )
    .option("--examples <folder>", "manifests to apply", EXAMPLES)
    .option("--timeout <seconds>", "give up after this long", positiveNumber, 60)
    .option("--speed <factor>", "how many times faster than real metal the simulated one is", positiveNumber, 200)
    .addOption(kubernetesOption())
    .option("-v, --verbose", "log what the operator does, on standard error")
    .addHelpText(
      "after",
      `
Ends with 0 when every machine has joined, with 1 when the time is over before, with 130 at Ctrl-C.

Examples:
  slipway demo
  slipway demo --kubernetes real
  slipway demo --examples my-manifests --timeout 120 --speed 50 --verbose`,
    )
    .action(async (options: DemoOptions) => {
      const secrets = new Secrets();
      const log = jsonLog({ level: options.verbose ? "info" : "silent", secrets });
      const objects = await readManifests(options.examples);
      const stopping = new AbortController();
      const stopped = untilStopped().then((signal) => stopping.abort(signal));
      const laptop = await startLaptop({
        kubernetes: options.kubernetes,
        dir: undefined,
        host: "127.0.0.1",
        port: 0,
        speed: options.speed,
        log,
        secrets,
      });
      try {
        console.log(`Kubernetes API on ${laptop.url}, ${objects.length} objects from ${options.examples}`);
        const isReady = await run(laptop, objects, options.timeout * 1000, stopping.signal);
        process.exitCode = isReady ? 0 : 1;
      } catch (error) {
        if (!stopping.signal.aborted) throw error;
        await stopped;
        process.exitCode = SIGNAL_EXIT[stopping.signal.reason as Signal];
      } finally {
        await laptop.close();
      }
    });
};

interface DemoOptions {
  examples: string;
  timeout: number;
  speed: number;
  kubernetes: KubernetesChoice;
  verbose?: boolean;
}

async function run(
  { client }: Laptop,
  objects: readonly KubeObject[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const began = systemClock.now();
  const elapsed = (): number => systemClock.now() - began;
  await applyObjects(client, objects);
  const progress = new Progress(process.stdout, () => elapsed() / 1000);
  for (;;) {
    signal.throwIfAborted();
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
    await systemClock.sleep(LOOK_MS, signal);
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
