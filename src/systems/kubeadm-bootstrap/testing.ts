import type { Cluster } from "../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../kinds/cluster-api/machine.ts";
import { KubeadmConfig } from "../../kinds/kubeadm/kubeadm-config.ts";

/** A KubeadmConfig as its API has it. For tests. */
export function aConfig(spec: Partial<KubeadmConfig["spec"]> = {}, status?: KubeadmConfig["status"]): KubeadmConfig {
  return {
    apiVersion: `${KubeadmConfig.group}/${KubeadmConfig.version}`,
    kind: KubeadmConfig.kind,
    metadata: { name: "worker-1", namespace: "shop", uid: "uid-1", generation: 2, resourceVersion: "1" },
    spec,
    ...(status !== undefined && { status }),
  } as KubeadmConfig;
}

/** A worker's Machine. For tests. */
export function aWorker(labels: Record<string, string> = {}): Machine {
  return {
    metadata: { name: "m-1", namespace: "shop", uid: "uid-m", labels },
    spec: { clusterName: "c1", bootstrap: {} },
  } as unknown as Machine;
}

/** A Cluster whose infrastructure and control plane are there. For tests. */
export function aCluster(more: { spec?: object; status?: object } = {}): Cluster {
  return {
    metadata: { name: "c1", namespace: "shop", uid: "uid-c" },
    spec: { controlPlaneEndpoint: { host: "203.0.113.5", port: 6443 } },
    status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } },
    ...more,
  } as unknown as Cluster;
}
