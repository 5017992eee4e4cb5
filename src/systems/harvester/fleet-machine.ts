import type { KubeObject, Resource } from "../../kube/object.ts";

/** The Cluster API Machine that stands for a node of a Harvester cluster, in namespace fleet-local. Only its existence matters here. */
export const FleetMachine: Resource<KubeObject> = {
  group: "cluster.x-k8s.io",
  version: "v1beta1",
  kind: "Machine",
  plural: "machines",
  namespaced: true,
};
