/** One replica of `shards.bench.ts`, a process of its own: its parent starts turns and asks how far it is. */
import { systemClock as clock, cryptoRandom, quietLog } from "@slipway/base";
import { type Controller, createManager, DONE, type Ref, source } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { cpuSeconds, residentMiB } from "./table.ts";

export interface Setup {
  kubeconfig: string;
  shards: number;
  /** What each object's call waits for. */
  callMs: number;
  workers: number;
}

export interface Report {
  done: number;
  /** Objects in the cache, before the first turn. */
  known: number;
  held: number;
  cpuSeconds: number;
  residentMiB: number;
}

const { kubeconfig, shards, callMs, workers } = JSON.parse(process.argv[2]!) as Setup;
const NAMESPACE = "default";
let turn: string | undefined;
let done = 0;
let wake: (ref: Ref) => void = () => {};

const controller: Controller = {
  name: "bench",
  system: "bench",
  workers,
  sources: [
    source({
      resource: ConfigMap,
      namespace: NAMESPACE,
      labelSelector: "bench=shards",
      when: (_, before) => before === undefined,
    }),
  ],
  access: [{ resource: ConfigMap, verbs: ["patch"], namespace: NAMESPACE }],
  owner: ({ name }) => name.slice(0, name.indexOf("-")),
  listen(onKey) {
    wake = onKey;
    return () => {};
  },
  async reconcile(ref, { cache, client }) {
    if (turn === undefined || cache.get(ConfigMap, ref)?.data?.turn === turn) return DONE;
    if (callMs > 0) await clock.sleep(callMs);
    await client.patch(ConfigMap, ref, { type: "merge", body: { data: { turn } } });
    done++;
    return DONE;
  },
};

const transport = createHttpTransport(await loadConnection({ kubeconfig, env: {}, clock }));
const manager = createManager({
  ...{ transport, clock, random: cryptoRandom, log: quietLog },
  leaderElection: { namespace: NAMESPACE, shards },
});
manager.add(controller);
process.on("message", ({ go }: { go?: string }) => {
  if (go === undefined) {
    process.send!({
      done,
      known: turn === undefined && manager.ready() ? manager.cache.list(ConfigMap).length : 0,
      held: manager.health().systems[0]!.shards.held,
      cpuSeconds: cpuSeconds(),
      residentMiB: residentMiB(),
    } satisfies Report);
    return;
  }
  turn = go;
  for (const { metadata } of manager.cache.list(ConfigMap)) wake({ namespace: NAMESPACE, name: metadata.name });
});
process.once("disconnect", () => void manager.stop().then(() => transport.close()));
await manager.start();
