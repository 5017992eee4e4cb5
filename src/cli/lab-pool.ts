import { join } from "node:path";
import { type Clock, isFault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { POOL_NAME } from "../lab/pool/manifests.ts";
import { machineRows, type PoolView, poolWord } from "../lab/pool/rows.ts";
import { viewPool } from "../lab/pool/view.ts";
import { DISCOVERY_NAMESPACE } from "../netboot/settings.ts";
import { secondsOf } from "./lab-news.ts";
import { MachineTable } from "./machine-table.ts";

const LOOK_MS = 1_000;

/** Shows the pool's machines as they change, and says what can be tried once all have joined, until `signal` is aborted. */
export async function showPool(
  client: Client,
  { dir, clock, signal }: { dir: string; clock: Clock; signal: AbortSignal },
): Promise<void> {
  const began = clock.monotonic();
  const seconds = (): string => secondsOf(clock.monotonic() - began);
  const shown = new MachineTable(process.stdout, seconds, "INSTANCE");
  let before: ReturnType<typeof poolWord> = "on its way";
  while (!signal.aborted) {
    const view = await viewPool(client, signal).catch((error: unknown) => {
      if (signal.aborted || isFault(error)) return undefined;
      throw error;
    });
    if (view !== undefined) {
      shown.show(machineRows(view));
      const word = poolWord(view);
      if (word !== before) shown.say(linesFor(word, view, dir, seconds()));
      before = word;
    }
    await clock.sleep(LOOK_MS, signal).catch(() => {});
  }
}

/** The lines for a pool that has just become ready, or is gone and wiped: that it is, and commands to try next. Pure. */
export function linesFor(
  word: ReturnType<typeof poolWord>,
  { pool, hosts }: PoolView,
  dir: string,
  after: string,
): string[] {
  if (word === "wiped")
    return [
      `The pool is gone, and all ${hosts.length} machines are wiped, after ${after}. To begin anew:`,
      "",
      `  kubectl apply -f ${join(dir, "pool.yaml")}`,
      "",
    ];
  if (word !== "ready") return [];
  const victim = hosts.find(({ spec }) => spec.consumerRef !== undefined)?.metadata.name ?? "lab-1";
  return [
    `All Nodes (${pool?.spec.count}) are Ready after ${after}. Try:`,
    "",
    `  export KUBECONFIG=${join(dir, "kubeconfig")}`,
    "  kubectl get nodes,instancepools,instances; kubectl get bmh -A",
    "",
    "  # A machine loses its disk, and starts anew: its Instance is replaced by one on the spare machine",
    `  dd if=/dev/zero of=${join(dir, victim, "disk.img")} bs=1M count=256 conv=notrunc`,
    `  kubectl -n ${DISCOVERY_NAMESPACE} annotate bmh ${victim} 'reboot.metal3.io={"mode":"hard"}'`,
    "",
    "  # The pool is deleted: all disks are wiped",
    `  kubectl delete instancepool ${POOL_NAME}`,
    "",
  ];
}
