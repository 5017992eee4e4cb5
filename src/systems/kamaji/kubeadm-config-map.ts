/** The ConfigMap beside a tenant with what kubeadm would be started with, by Kamaji's name and keys. */
import type { Cache, Client } from "@slipway/kube";
import { controllerReference } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { clusterConfiguration, initConfiguration } from "../../bootstrap/kubeadm/configurations.ts";
import type { JoinFacts } from "../../bootstrap/kubeadm/join-facts.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { Applied } from "../../tenants/deployment/applied.ts";
import { CHECKSUM, labelsOf } from "./names.ts";

const COMPONENT = "kubeadmconfig";

/** The ConfigMap as a tenant's status names it. */
export interface KubeadmConfigMark {
  configmapName: string;
  checksum: string;
}

/** Brings it to what is wanted; nothing is asked for where it is so. Rejects with `AlreadyExists` for a foreign one of its name. */
export async function keepKubeadmConfig(
  applied: Applied,
  cluster: { client: Client; cache: Cache },
  tenant: TenantControlPlane,
  facts: JoinFacts,
): Promise<KubeadmConfigMark> {
  const { name, namespace } = tenant.metadata;
  const configmapName = `${name}-${COMPONENT}`;
  const kept = await applied.keep(cluster, ConfigMap, {
    ...{ apiVersion: "v1", kind: "ConfigMap" },
    metadata: {
      ...{ name: configmapName, namespace: namespace!, labels: labelsOf(name, COMPONENT) },
      ownerReferences: [controllerReference(TenantControlPlane, tenant)],
    },
    data: {
      InitConfiguration: JSON.stringify(initConfiguration(facts)),
      ClusterConfiguration: JSON.stringify(clusterConfiguration(facts)),
    },
  });
  return { configmapName, checksum: kept.metadata.annotations?.[CHECKSUM] ?? "" };
}
