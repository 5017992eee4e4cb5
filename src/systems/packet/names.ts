/**
 * The system that takes over Cluster API's provider for Packet (Equinix Metal): PacketClusters and PacketMachines, over any machine provider.
 * `*-plan.ts` decides (pure), `*-controller.ts` does.
 *
 * Here: the names that users, live objects of the original and other programs know.
 */
import type { PacketMachine } from "../../kinds/packet/packet-machine.ts";

export const PACKET = "packet";

/** The original's finalizers, kept. */
export const CLUSTER_FINALIZER = "packetcluster.infrastructure.cluster.x-k8s.io";
export const MACHINE_FINALIZER = "packetmachine.infrastructure.cluster.x-k8s.io";

/** Namespace and Secret of the original's API key. */
export const DEFAULT_NAMESPACE = "cluster-api-provider-packet-system";
export const DEFAULT_SECRET = "manager-api-credentials";
export const API_KEY = "PACKET_API_KEY";

/** How Nodes name their machines. */
const PROVIDER_ID = "equinixmetal://";

/** Throws nothing; undefined for an id that is none. */
export function machineIdOf(providerID: string | undefined): string | undefined {
  const id = providerID?.startsWith(PROVIDER_ID) ? providerID.slice(PROVIDER_ID.length) : undefined;
  return id || undefined;
}

/** What a Node names its machine by. `id`: as the machine knows itself. */
export function providerIDOf(id: string): string {
  return PROVIDER_ID + id;
}

/** Tags of an elastic IP: the first is what cloud-provider-equinix-metal is configured to look for. Names alone, so that they outlive a move to another cluster. */
export function addressTags({ namespace, cluster }: { namespace: string; cluster: string }): string[] {
  return [`cluster-api-provider-packet:cluster-id:${cluster}`, `capp:namespace:${namespace}`];
}

export interface MachineNames {
  namespace: string;
  cluster: string;
  machine: string;
}

/** Tags by which the original finds its machines. */
export function machineTags({ namespace, cluster, machine }: MachineNames): string[] {
  return [`capp:cluster-id:${cluster}`, `capp:machine-uid:${machine}`, `capp:namespace:${namespace}`];
}

/** The same before its release 0.8. */
export function oldMachineTags({ namespace, cluster, machine }: MachineNames): string[] {
  return machineTags({ namespace, cluster, machine }).map((tag) =>
    tag.replace(/^capp:/, "cluster-api-provider-packet:"),
  );
}

/** The tag that says what a machine is in its cluster. */
export function roleTag(isControlPlane: boolean): string {
  return `kubernetes.io/role:${isControlPlane ? "master" : "node"}`;
}

/** As messages name it. */
export function nameOf({ metadata }: PacketMachine): string {
  return `PacketMachine/${metadata.namespace}/${metadata.name}`;
}
