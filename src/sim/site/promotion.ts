import type { Clock, Timer } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { CONTROL_PLANE_LABELS, PROMOTE_ANNOTATION } from "./node-object.ts";

const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";
/** A cluster of at least this many nodes gets as many managers. */
const MANAGERS = 3;

/** Promotes nodes one at a time: unschedulable while it runs, then the control plane's labels. */
export interface Promoter {
  changed(node: Node): void;
  gone(name: string): void;
  /** Promotes the next node where one is due. What was reported is the cluster as it was at one moment. */
  consider(): void;
  close(): void;
}

const status = (node: Node): string | undefined => node.metadata.annotations?.[PROMOTE_ANNOTATION];

/** Nodes by what promotion asks of them, sorted as they change: thousands report often, and few of them are ever promoted. */
export class PromotionOrder {
  readonly #alive = new Set<string>();
  readonly #managers = new Set<string>();
  readonly #running = new Set<string>();
  /** The rank of each ready node that may be promoted. */
  readonly #ranks = new Map<string, string>();

  changed(node: Node): void {
    const { name, deletionTimestamp, labels } = node.metadata;
    this.gone(name);
    // One that was begun before the simulation was started again is begun anew: nobody else will finish it.
    if (status(node) === "running") this.#running.add(name);
    if (deletionTimestamp !== undefined) return;
    this.#alive.add(name);
    if (labels?.[CONTROL_PLANE] === "true") this.#managers.add(name);
    else if (mayBePromoted(node)) this.#ranks.set(name, rankOf(node));
  }

  gone(name: string): void {
    for (const group of [this.#alive, this.#managers, this.#running, this.#ranks]) group.delete(name);
  }

  /** The node that Harvester would promote now: the oldest ready one that may be, those meant for management first; undefined: none. */
  next(): string | undefined {
    const [begun] = this.#running;
    if (begun !== undefined) return begun;
    if (this.#alive.size < MANAGERS || this.#managers.size >= MANAGERS) return undefined;
    const first = [...this.#ranks].reduce<[string, string] | undefined>(
      (least, one) => (least === undefined || one[1] < least[1] ? one : least),
      undefined,
    );
    return first?.[0];
  }
}

function mayBePromoted(node: Node): boolean {
  if (status(node) !== undefined || has(node, "worker") || has(node, "witness")) return false;
  return node.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") === true;
}

function has({ metadata }: Node, role: string): boolean {
  return metadata.labels?.[`node-role.harvesterhci.io/${role}`] === "true";
}

function rankOf(node: Node): string {
  const { creationTimestamp, name } = node.metadata;
  return `${has(node, "management") ? 0 : 1} ${creationTimestamp} ${name}`;
}

/** Promotes Nodes one after another, as Harvester does: the next begins when the one before is done. */
export function promoter(options: { client: Client; clock: Clock; durationMs: number }): Promoter {
  const { client, clock, durationMs } = options;
  const order = new PromotionOrder();
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
    changed: (node) => order.changed(node),
    gone: (name) => order.gone(name),
    consider() {
      if (promoting !== undefined) return;
      const chosen = order.next();
      if (chosen === undefined) return;
      promoting = chosen;
      mark(chosen, { annotations: { [PROMOTE_ANNOTATION]: "running" } }, true).then(() => {
        timer = clock.after(durationMs, () => finish(chosen));
      }, free);
    },
    close: () => timer?.cancel(),
  };
}
