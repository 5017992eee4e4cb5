import { type KubeObject, metadataOf, type Resource } from "@slipway/kube";
import { Deployment, Pod, Service } from "@slipway/kube/core";

/** Objects of Kubernetes' own kinds that systems make. A cluster has many: only those in the namespaces of the tops are read. */
export const BUILT_IN: readonly Resource<KubeObject>[] = [Deployment, Service, Pod].map(metadataOf);

/** The namespaces of these objects, each once. */
export const namespacesOf = (objects: readonly KubeObject[]): string[] => [
  ...new Set(objects.flatMap(({ metadata: { namespace } }) => namespace ?? [])),
];
