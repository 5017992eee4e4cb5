import type { KubeObject, Resource } from "@slipway/kube";

/** A provider as clusterctl notes it, as far as it is read here. */
export interface Provider extends KubeObject {
  type?: string;
  providerName?: string;
}
/** clusterctl's inventory of installed providers. */
export const Provider: Resource<Provider> = {
  group: "clusterctl.cluster.x-k8s.io",
  version: "v1alpha3",
  kind: "Provider",
  plural: "providers",
  namespaced: true,
};
