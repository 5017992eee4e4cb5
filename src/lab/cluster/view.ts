import { deadline, isFault } from "@slipway/base";
import { type Client, isTrue, type ObjectMeta, type Ref } from "@slipway/kube";
import { Deployment, Event, Node, Pod } from "@slipway/kube/core";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../kinds/cluster-api/machine-deployment.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { DISCOVERY_NAMESPACE } from "../../netboot/settings.ts";
import type { WorkloadWay } from "./workload-api.ts";

/** A machine as its provider has it. */
export interface InfraMachine {
  metadata: ObjectMeta;
  status?:
    | {
        ready?: boolean | undefined;
        /** In a word of the provider's. */
        state?: string | undefined;
        failureReason?: string | undefined;
        waitingFor?: string | undefined;
        install?: { scriptFetched?: string | null | undefined; configFetched?: string | null | undefined } | undefined;
      }
    | undefined;
}

/** What the APIs have of a lab's cluster: the lab's own, and the cluster's. */
export interface ClusterView {
  cluster: Cluster | undefined;
  workers: MachineDeployment | undefined;
  machines: readonly Machine[];
  infraMachines: readonly InfraMachine[];
  hosts: readonly BareMetalHost[];
  nodes: readonly Node[];
  deployments: readonly Deployment[];
  pods: readonly Pod[];
}

/** Reads it as it is now. Of a cluster that does not answer there are no Nodes. Rejects with the client's `Fault`. */
export async function viewCluster(
  client: Client,
  { namespace, name }: Required<Ref>,
  {
    way,
    infraMachines,
  }: {
    way: WorkloadWay;
    infraMachines: (client: Client, namespace: string) => Promise<readonly InfraMachine[]>;
  },
): Promise<ClusterView> {
  const [cluster, workers, machines, infra, hosts, inside] = await Promise.all([
    client.find(Cluster, { namespace, name }),
    client.list(MachineDeployment, { namespace }),
    client.list(Machine, { namespace }),
    infraMachines(client, namespace),
    client.list(BareMetalHost, { namespace: DISCOVERY_NAMESPACE }),
    viewWorkload(way, namespace),
  ]);
  const ofCluster = ({ spec }: { spec: { clusterName: string } }): boolean => spec.clusterName === name;
  return {
    cluster,
    workers: workers.items.find(ofCluster),
    machines: machines.items.filter(ofCluster),
    infraMachines: infra,
    hosts: hosts.items,
    ...inside,
  };
}

/** A cluster that ends answers no more; the others' view waits for it no longer than this. */
const ANSWER_MS = 5_000;

type Workload = Pick<ClusterView, "nodes" | "deployments" | "pods">;
const NOTHING: Workload = { nodes: [], deployments: [], pods: [] };

async function viewWorkload(way: WorkloadWay, namespace: string): Promise<Workload> {
  const { signal, done } = deadline(way.clock, ANSWER_MS);
  try {
    const api = await way.api();
    if (api === undefined) return NOTHING;
    const [nodes, deployments, pods] = await Promise.all([
      api.client.list(Node, { signal }),
      api.client.list(Deployment, { namespace, signal }),
      api.client.list(Pod, { namespace, signal }),
    ]);
    return { nodes: nodes.items, deployments: deployments.items, pods: pods.items };
  } catch (error) {
    if (signal.aborted || isFault(error)) return NOTHING;
    throw error;
  } finally {
    done();
  }
}

/** What the agents have proven of each wipe after a machine was used, by the names of the hosts. */
export async function wipeProofs(client: Client): Promise<Map<string, string>> {
  const { items } = await client.list(Event, { namespace: DISCOVERY_NAMESPACE });
  const proofs = items.flatMap(({ reason, message = "", involvedObject }): [string, string][] =>
    reason === "DeprovisioningComplete" && message.startsWith("wiped, and read back") && involvedObject.name
      ? [[involvedObject.name, message]]
      : [],
  );
  return new Map(proofs);
}

/** Whether the Node says that it is ready. Pure. */
export function isNodeReady({ status }: Node): boolean {
  return isTrue(status?.conditions, "Ready");
}
