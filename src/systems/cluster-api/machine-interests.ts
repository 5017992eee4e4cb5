import { keyOf, type Ref } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";

interface Interest {
  machine: Ref;
  cluster: string;
  providerID: string | undefined;
}

/** Which Machines a change in a workload cluster is about. */
export class MachineInterests {
  readonly #byMachine = new Map<string, Interest>();
  readonly #byCluster = new Map<string, Set<string>>();
  readonly #byProviderID = new Map<string, Set<string>>();

  /** Notes the cluster and the id of a Machine. */
  set(machine: Ref, cluster: Ref, providerID: string | undefined): void {
    const key = keyOf(machine);
    const held = this.#byMachine.get(key);
    if (held?.cluster === keyOf(cluster) && held.providerID === providerID) return;
    this.delete(machine);
    this.#byMachine.set(key, { machine, cluster: keyOf(cluster), providerID });
    add(this.#byCluster, keyOf(cluster), key);
    if (providerID !== undefined) add(this.#byProviderID, idKey(keyOf(cluster), providerID), key);
  }

  delete(machine: Ref): void {
    const key = keyOf(machine);
    const held = this.#byMachine.get(key);
    if (held === undefined) return;
    this.#byMachine.delete(key);
    remove(this.#byCluster, held.cluster, key);
    if (held.providerID !== undefined) remove(this.#byProviderID, idKey(held.cluster, held.providerID), key);
  }

  /** Those with the Node's id, or without a Node all of the cluster. */
  of(cluster: Ref, node: Node | undefined): Ref[] {
    const keys =
      node === undefined
        ? this.#byCluster.get(keyOf(cluster))
        : this.#byProviderID.get(idKey(keyOf(cluster), node.spec?.providerID ?? ""));
    return [...(keys ?? [])].map((key) => this.#byMachine.get(key)!.machine);
  }
}

const idKey = (cluster: string, providerID: string): string => `${cluster} ${providerID}`;

function add(map: Map<string, Set<string>>, key: string, value: string): void {
  const held = map.get(key);
  if (held === undefined) map.set(key, new Set([value]));
  else held.add(value);
}

function remove(map: Map<string, Set<string>>, key: string, value: string): void {
  const held = map.get(key);
  held?.delete(value);
  if (held?.size === 0) map.delete(key);
}
