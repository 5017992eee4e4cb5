import type { KubeObject, Resource } from "@slipway/kube";

/** The Cluster API Machine that stands for a node of a Harvester cluster, in namespace fleet-local. Only its existence matters here. */
export const CapiMachine: Resource<KubeObject> = {
  group: "cluster.x-k8s.io",
  version: "v1beta1",
  kind: "Machine",
  plural: "machines",
  namespaced: true,
};
