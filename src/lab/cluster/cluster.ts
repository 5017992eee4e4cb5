/**
 * A workload cluster on the lab's machines, by Cluster API: `manifests.ts` reads what it is made of, this starts who makes it, and `course.ts` takes it from
 * blank machines to wiped ones; `view.ts` and `rows.ts` show how far each machine is. Needs netboot that drives hosts and serves the node image.
 */
import { join } from "node:path";
import { isFault } from "@slipway/base";
import { type Client, createClient } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { DEFAULT_NAMESPACE } from "../../operator/defaults.ts";
import { systemsToRun } from "../../operator/operator.ts";
import { type LabOperator, type LabOperatorOptions, startLabOperator } from "../operator.ts";
import { LAB } from "../rack.ts";

export interface LabClusterOptions extends Omit<LabOperatorOptions, "of" | "systems"> {
  /** For tenants' state. */
  dir: string;
}

/** What a workload cluster needs of the operator: its core and providers, tenants as real programs in the machines' network, and the node image's own network. */
function systemSettings(dir: string) {
  return {
    "cluster-api": { core: "light" },
    "kubeadm-bootstrap": { enabled: true },
    "kamaji-control-plane": { enabled: true },
    kamaji: { runtime: "process", host: LAB.address, dir: join(dir, "tenants") },
    packet: { enabled: true },
    "cluster-addons": { addons: "network" },
  };
}

/** The operator that makes the cluster. Rejects when it does not start; nothing is left open then. Whoever calls closes it. */
export async function startLabCluster({ dir, ...options }: LabClusterOptions): Promise<LabOperator> {
  return await startProviders({ ...options, of: systemSettings(dir) });
}

/** The operator with the providers of Cluster API that are set, in a cluster of its own. As `startLabCluster`. */
export async function startProviders(options: Omit<LabOperatorOptions, "systems">): Promise<LabOperator> {
  await ensureNamespace(createClient(options.transport, options), DEFAULT_NAMESPACE);
  return await startLabOperator({ ...options, systems: systemsToRun(["providers"], options.of) });
}

async function ensureNamespace(client: Client, name: string): Promise<void> {
  try {
    await client.create(Namespace, { metadata: { name } });
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
  }
}
