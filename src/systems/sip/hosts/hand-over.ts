/**
 * Hosts of a cluster go to the Metal3Machines that ask for them by the cluster's labels. Metal3's provider for Cluster API passes over hosts of
 * another consumer, and takes one that names its machine already: the consumerRef is handed over, so nobody else gets in between. Pure.
 */

import type { LabelSelector } from "@slipway/kube";
import { type KubeObject, type Resource, selects } from "@slipway/kube";
import { type Consumer, consumerOf } from "../../../inventory/claims/claim.ts";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE } from "../../../kinds/sip/labels.ts";
import type { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";

/** As much of it as says which host it asks for. */
export interface Metal3Machine extends KubeObject {
  spec?: { hostSelector?: LabelSelector };
}
export const Metal3Machine: Resource<Metal3Machine> = {
  ...{ group: "infrastructure.cluster.x-k8s.io", version: "v1beta1", kind: "Metal3Machine" },
  ...{ plural: "metal3machines", namespaced: true },
};

/** Set by the provider on a machine that has its host. */
const HOST_ANNOTATION = "metal3.io/BareMetalHost";

/** The cluster whose hosts the machine asks for; undefined: it names none. */
export function clusterAskedFor({ spec }: Metal3Machine): { namespace: string; name: string } | undefined {
  const { [CLUSTER_NAMESPACE]: namespace, [CLUSTER_NAME]: name } = spec?.hostSelector?.matchLabels ?? {};
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

/** For each machine without a host one that it asks for and that nobody uses, of the machine's own namespace. */
export function handOvers(
  cluster: SIPCluster,
  hosts: readonly BareMetalHost[],
  machines: readonly Metal3Machine[],
): { host: BareMetalHost; to: Consumer }[] {
  const users = new Set(hosts.map(({ spec }) => usedBy(spec.consumerRef)));
  const free = hosts.filter(({ spec }) => spec.consumerRef?.uid === cluster.metadata.uid);
  const given: { host: BareMetalHost; to: Consumer }[] = [];
  for (const machine of machines.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const { namespace, annotations = {}, deletionTimestamp } = machine.metadata;
    const asked = clusterAskedFor(machine);
    if (asked?.name !== cluster.metadata.name || asked.namespace !== cluster.metadata.namespace) continue;
    const to = consumerOf(Metal3Machine, machine);
    if (deletionTimestamp !== undefined || annotations[HOST_ANNOTATION] !== undefined || users.has(usedBy(to)))
      continue;
    const at = free.findIndex(
      ({ metadata }) => metadata.namespace === namespace && selects(machine.spec!.hostSelector!, metadata.labels),
    );
    if (at !== -1) given.push({ host: free.splice(at, 1)[0]!, to });
  }
  return given;
}

function usedBy(reference: BareMetalHost["spec"]["consumerRef"]): string {
  return `${reference?.kind} ${reference?.namespace}/${reference?.name}`;
}
