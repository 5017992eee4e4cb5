import { fileURLToPath } from "node:url";
import { isFault, systemClock } from "@slipway/base";
import { shippedFolder } from "@slipway/base/shipped";
import type { Client, KubeObject } from "@slipway/kube";
import { Cluster } from "../kinds/cluster-api/cluster.ts";
import { applyObjects } from "../laptop/apply.ts";
import type { KubernetesChoice } from "../laptop/kubernetes.ts";
import { type Laptop, startLaptop } from "../laptop/laptop.ts";
import { readManifests } from "../laptop/manifests.ts";
import { ALL_KINDS } from "../operator/kinds.ts";
import { SYSTEMS } from "../operator/systems.ts";
import type { Act, ActPorts } from "../systems/act.ts";
import { isReady } from "../views/standing.ts";
import { readCluster } from "./cluster-description.ts";
import { clusterLines } from "./cluster-tree.ts";
import { commandLog } from "./command-log.ts";
import { counterpartsOf, kubernetesOption, standInHardware } from "./laptop-options.ts";
import { positiveNumber } from "./option-values.ts";
import { say, secrets } from "./outgoing.ts";
import { Play } from "./play.ts";
import { idOf, type Listed, Progress, type ProgressRow, printed, progressRows } from "./progress.ts";
import { SIGNAL_EXIT, type Signal, untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

/** The manifests of all systems; `examples/rack` is for metal that can be touched. */
const EXAMPLES = SYSTEMS.flatMap(({ examples }) => (examples === undefined ? [] : [examples]));
const LOOK_MS = 200;

/** Where a folder of this repository, or of the bundle, is. */
function pathOf(folder: string): string {
  return shippedFolder(fileURLToPath(new URL(`../../${folder}`, import.meta.url)));
}

/** `slipway demo`: fails if an example is not ready in time. */
export const verb: Verb = (program) => {
  program
    .command("demo")
    .description(
      "Apply the examples of all systems on simulated metal, rented and owned, show their progress, and end when everything is ready.",
    )
    .option("--examples <folder>", "manifests to apply; unset: those of all systems")
    .option("--timeout <seconds>", "give up after this long", positiveNumber, 120)
    .option("--speed <factor>", "how many times faster than real metal the simulated one is", positiveNumber, 200)
    .addOption(kubernetesOption())
    .option("-v, --verbose", "log what the operator does, on standard error")
    .addHelpText(
      "after",
      `
Ends with 0 when every machine has joined and every act is over, with 1 when the time is over before, with 130 at Ctrl-C.

Examples:
  slipway demo
  slipway demo --kubernetes real
  slipway demo --examples my-manifests --timeout 120 --speed 50 --verbose`,
    )
    .action(async (options: DemoOptions) => {
      const log = commandLog({ logLevel: options.verbose ? "info" : "silent" });
      const folders = options.examples === undefined ? EXAMPLES.map(pathOf) : [options.examples];
      const objects = (await Promise.all(folders.map((folder) => readManifests(folder)))).flat();
      const stopping = new AbortController();
      const stopped = untilStopped().then((signal) => stopping.abort(signal));
      const laptop = await startLaptop({
        kubernetes: options.kubernetes,
        dir: undefined,
        host: "127.0.0.1",
        port: 0,
        speed: options.speed,
        counterparts: await counterpartsOf(),
        hardware: await standInHardware(),
        log,
        secrets,
      });
      try {
        console.log(`Kubernetes API on ${laptop.url}, ${objects.length} objects from ${folders.join(", ")}`);
        const acts = options.examples === undefined ? await allActs() : [];
        const isReady = await run(laptop, { objects, acts }, options.timeout * 1000, stopping.signal);
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
  examples?: string;
  timeout: number;
  speed: number;
  kubernetes: KubernetesChoice;
  verbose?: boolean;
}

async function allActs(): Promise<Act[]> {
  const loaded = await Promise.all(SYSTEMS.map(async ({ act }) => (await act?.())?.act));
  return loaded.filter((act) => act !== undefined);
}

async function run(
  laptop: Laptop,
  { objects, acts }: { objects: readonly KubeObject[]; acts: readonly Act[] },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const ending = new AbortController();
  const ports: Pick<ActPorts, "client" | "manifests"> = {
    client: laptop.client,
    manifests: (folder, isWanted) => readManifests(pathOf(folder), isWanted),
  };
  const plays = acts.map((act) => new Play(act, ports, AbortSignal.any([signal, ending.signal])));
  try {
    return await shown(laptop, { objects, plays }, timeoutMs, signal);
  } finally {
    ending.abort();
    await Promise.all(plays.map(({ ended }) => ended));
  }
}

async function shown(
  laptop: Laptop,
  { objects, plays }: { objects: readonly KubeObject[]; plays: readonly Play[] },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const began = systemClock.monotonic();
  const elapsed = (): number => systemClock.monotonic() - began;
  const stored = await applyObjects(laptop, objects);
  const progress = new Progress(process.stdout, () => elapsed() / 1000);
  const applied = new Set(stored.map(idOf));
  for (;;) {
    signal.throwIfAborted();
    const listed = await look(laptop.client);
    const rows = (): ProgressRow[] => [...progressRows(listed, applied), ...plays.map((play) => play.row())];
    progress.show(rows());
    // What only holds data is never on its way.
    const moving = listed.filter(({ kind }) => kind.status !== undefined).flatMap(({ objects }) => objects);
    const wanted = moving.filter((object) => applied.has(idOf(object)));
    const areOver = plays.every((play) => play.isOver());
    if (wanted.length > 0 && wanted.every(isReady) && areOver) {
      await sayAll(laptop.client, listed, plays);
      console.log(`\nready after ${(elapsed() / 1000).toFixed(1)} s`);
      return true;
    }
    if (elapsed() > timeoutMs) {
      console.error(`\nnot ready after ${timeoutMs / 1000} s. What is waited for:`);
      for (const row of rows()) console.error(`  ${row.name.trim()}: ${row.status}: ${row.doing}`);
      return false;
    }
    await systemClock.sleep(LOOK_MS, signal);
  }
}

/** All objects in tables, the workload clusters, and what the acts have shown. */
async function sayAll(client: Client, listed: readonly Listed[], plays: readonly Play[]): Promise<void> {
  for (const { kind, objects } of listed) say(`\n${printed(kind, objects).join("\n")}`);
  for (const tree of await trees(client)) say(`\n${tree.join("\n")}`);
  for (const play of plays) say(`\n${play.table().join("\n")}`);
}

/** Each workload cluster as `slipway describe cluster` draws it. */
async function trees(client: Client): Promise<string[][]> {
  const { items } = await client.list(Cluster);
  return await Promise.all(
    items.map(async ({ metadata: { namespace = "", name } }) =>
      clusterLines(await readCluster(client, { namespace, name }), systemClock.now()),
    ),
  );
}

/** All objects of Slipway's kinds; a kind that is not served has none. */
async function look(client: Client): Promise<Listed[]> {
  const listed = await Promise.all(
    ALL_KINDS.map(async ([kind]) => {
      const objects = await client.list(kind!).then(
        ({ items }) => items,
        (error: unknown) => {
          if (isFault(error, "NotFound")) return [];
          throw error;
        },
      );
      return { kind: kind!, objects };
    }),
  );
  return listed.filter(({ objects }) => objects.length > 0);
}
