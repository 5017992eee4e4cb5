/** Which Machine and which Cluster an object of a provider belongs to. The core sets the references; until then there is none. */
import type { Cache, KubeObject, OwnerReference, Ref } from "@slipway/kube";
import { Cluster } from "../kinds/cluster-api/cluster.ts";
import { Machine } from "../kinds/cluster-api/machine.ts";
import { GROUPS, LABELS } from "./names.ts";

/** The owner of this kind, whatever version the reference names. It need not be the controller. */
export function ownerOf(object: KubeObject, of: { group: string; kind: string }): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(
    ({ apiVersion, kind }) => kind === of.kind && apiVersion.split("/")[0] === of.group,
  );
}

/** The Machine that owns an object, by reference. */
export const machineOwner = (object: KubeObject): Ref | undefined => named(object, "Machine");
/** The Cluster that owns an object, by reference. */
export const clusterOwner = (object: KubeObject): Ref | undefined => named(object, "Cluster");

function named(object: KubeObject, kind: string): Ref | undefined {
  const owner = ownerOf(object, { group: GROUPS.core, kind });
  return owner && inNamespaceOf(object, owner.name);
}

/** An object of this name beside another. */
export const inNamespaceOf = ({ metadata: { namespace } }: KubeObject, name: string): Ref =>
  namespace === undefined ? { name } : { name, namespace };

/** The Machine that an infrastructure or bootstrap object was made for; undefined until the core has set the reference. */
export function machineOf(cache: Cache, object: KubeObject): Machine | undefined {
  const owner = ownerOf(object, { group: GROUPS.core, kind: "Machine" });
  const machine = owner && cache.get(Machine, inNamespaceOf(object, owner.name));
  // A name may be taken again.
  return machine?.metadata.uid === owner?.uid ? machine : undefined;
}

/** The Cluster of a Machine, MachineSet, MachineDeployment or MachineHealthCheck. */
export const clusterOf = (cache: Cache, object: KubeObject & { spec: { clusterName: string } }): Cluster | undefined =>
  cache.get(Cluster, inNamespaceOf(object, object.spec.clusterName));

/** The Cluster that owns a provider's object: by its reference, else by its label. */
export function owningCluster(cache: Cache, object: KubeObject): Cluster | undefined {
  const name = clusterOwner(object)?.name ?? object.metadata.labels?.[LABELS.clusterName];
  return name === undefined ? undefined : cache.get(Cluster, inNamespaceOf(object, name));
}

/** Whether the Machine is one of the control plane. */
export const isControlPlane = (machine: KubeObject): boolean =>
  machine.metadata.labels?.[LABELS.controlPlane] !== undefined;
