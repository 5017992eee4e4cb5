import { type Client, isTrue } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE } from "../../kinds/sip/labels.ts";
import { SIPCluster } from "../../kinds/sip/sip-cluster.ts";
import { Vino } from "../../kinds/vino/vino.ts";
import { VinoNode } from "../../kinds/vino/vino-node.ts";
import type { MachineRow } from "../pool/rows.ts";
import type { LabVino } from "./manifests.ts";

/** What the API has of the lab's virtual machines and their tenant. */
export interface VinoView {
  vino: Vino | undefined;
  cluster: SIPCluster | undefined;
  hosts: readonly BareMetalHost[];
  vinoNodes: readonly VinoNode[];
}

/** Reads it as it is now. Rejects with the client's `Fault`. */
export async function viewVino(client: Client, { vino, sip }: LabVino): Promise<VinoView> {
  const { namespace } = vino;
  const [found, cluster, hosts, vinoNodes] = await Promise.all([
    client.find(Vino, vino),
    client.find(SIPCluster, sip),
    client.list(BareMetalHost, { namespace }),
    client.list(VinoNode, { namespace }),
  ]);
  return { vino: found, cluster, hosts: hosts.items, vinoNodes: vinoNodes.items };
}

/** Whether so many hosts are offered, wiped and nobody's. Pure. */
export function areOffered({ hosts }: VinoView, count: number): boolean {
  const offered = hosts.filter(
    (host) => host.spec.consumerRef === undefined && host.status?.provisioning?.state === "available" && !isTaken(host),
  );
  return hosts.length === count && offered.length === count;
}

/** Whether a SIPCluster has it. Pure. */
export function isTaken({ metadata }: BareMetalHost): boolean {
  return metadata.labels?.[CLUSTER_NAME] !== undefined;
}

/** The virtual machines as the table shows them. `nodes`: the tenant's. Pure. */
export function vinoRows({ hosts }: VinoView, nodes: readonly Node[]): MachineRow[] {
  return hosts.map((host): MachineRow => {
    const { metadata, status } = host;
    const state = status?.provisioning?.state || status?.operationalStatus || "new";
    const { [CLUSTER_NAME]: cluster, [CLUSTER_NAMESPACE]: namespace } = metadata.labels ?? {};
    const node = nodes.find((each) => each.metadata.name === metadata.name);
    return {
      machine: metadata.name,
      host: status?.errorMessage ? `${state}, error` : state,
      instance: cluster === undefined ? "-" : `${namespace}/${cluster}`,
      node: node === undefined ? "-" : isTrue(node.status?.conditions, "Ready") ? "Ready" : "not Ready",
      doing: status?.errorMessage || (status?.waitingFor ? `waiting for ${status.waitingFor}` : ""),
    };
  });
}
