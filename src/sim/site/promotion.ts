import type { Clock, Timer } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { CONTROL_PLANE_LABELS, PROMOTE_ANNOTATION } from "./node-object.ts";

const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";
/** A cluster of at least this many nodes gets as many managers. */
const MANAGERS = 3;

const status = (node: Node): string | undefined => node.metadata.annotations?.[PROMOTE_ANNOTATION];
const isBeingPromoted = (node: Node): boolean => status(node) === "running";

/** Which node Harvester would promote now: the oldest ready one that may be, those meant for management first; undefined: none. */
export function nextToPromote(nodes: readonly Node[]): Node | undefined {
  const alive = nodes.filter((n) => n.metadata.deletionTimestamp === undefined);
  const managers = alive.filter((n) => n.metadata.labels?.[CONTROL_PLANE] === "true");
  if (alive.length < MANAGERS || managers.length >= MANAGERS) return undefined;
  if (alive.some(isBeingPromoted)) return undefined;
  const has = (n: Node, role: string): boolean => n.metadata.labels?.[`node-role.harvesterhci.io/${role}`] === "true";
  const rank = (n: Node): string =>
    `${has(n, "management") ? 0 : 1} ${n.metadata.creationTimestamp} ${n.metadata.name}`;
  return alive
    .filter((n) => !managers.includes(n) && status(n) === undefined && !has(n, "worker") && !has(n, "witness"))
    .filter((n) => n.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True"))
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
}

/** Promotes nodes one at a time: unschedulable while it runs, then the control plane's labels. */
export function promoter(options: { client: Client; clock: Clock; durationMs: number }): {
  consider(nodes: readonly Node[]): void;
  close(): void;
} {
  const { client, clock, durationMs } = options;
  let promoting: string | undefined;
  let timer: Timer | undefined;

  const mark = async (name: string, metadata: object, unschedulable: boolean | null): Promise<void> => {
    await client.patch(Node, { name }, { type: "merge", body: { metadata, spec: { unschedulable } } });
  };
  const free = (): void => {
    promoting = undefined;
  };
  const finish = (name: string): void => {
    const annotations = { [PROMOTE_ANNOTATION]: "complete" };
    // A node that was deleted meanwhile is no longer there to be marked.
    mark(name, { annotations, labels: CONTROL_PLANE_LABELS }, null).then(free, free);
  };

  return {
    consider(nodes) {
      if (promoting !== undefined) return;
      // One that was begun before the simulation was started again is begun anew: nobody else will finish it.
      const chosen = (nodes.find(isBeingPromoted) ?? nextToPromote(nodes))?.metadata.name;
      if (chosen === undefined) return;
      promoting = chosen;
      mark(chosen, { annotations: { [PROMOTE_ANNOTATION]: "running" } }, true).then(() => {
        timer = clock.after(durationMs, () => finish(chosen));
      }, free);
    },
    close: () => timer?.cancel(),
  };
}
