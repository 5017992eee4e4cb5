/** The Secrets of Cluster API's contract that are made of a tenant's: what is to be in them. Pure. */
import { Fault } from "@slipway/base";
import { controllerReference, type KubeObject } from "@slipway/kube";
import type { Secret } from "@slipway/kube/core";
import { SECRET_TYPE, secretName } from "../../cluster-api/names.ts";
import { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { KUBECONFIG_KEY, secretLabels } from "./names.ts";

/** The key of the admin Secret that becomes the cluster's kubeconfig. */
export function kubeconfigKeyOf({ metadata, spec }: KamajiControlPlane): string {
  const named = metadata.annotations?.[KUBECONFIG_KEY];
  return named || (spec.network.advertiseAddress ? "admin.svc" : "admin.conf");
}

export interface SecretPlan {
  name: string;
  of: "kubeconfig" | "ca";
  /** Base64, as in a Secret. */
  data: Record<string, string>;
}

/** What the cluster's kubeconfig Secret holds. Throws `Invalid` where the tenant's has no such key. */
export function kubeconfigSecret(controlPlane: KamajiControlPlane, cluster: string, admin: Secret): SecretPlan {
  const key = kubeconfigKeyOf(controlPlane);
  const value = admin.data?.[key];
  if (value === undefined)
    throw new Fault("Invalid", `Secret/${admin.metadata.name}`, `there is no key ${key}`, {
      remedy: `name one of ${Object.keys(admin.data ?? {}).join(", ")} in the annotation ${KUBECONFIG_KEY} of KamajiControlPlane/${controlPlane.metadata.name}`,
    });
  return { name: secretName(cluster, "kubeconfig"), of: "kubeconfig", data: { value } };
}

/** What the cluster's CA Secret holds; undefined while the tenant's is not complete. */
export function caSecret(cluster: string, ca: Secret): SecretPlan | undefined {
  const { "ca.crt": cert, "ca.key": key } = ca.data ?? {};
  if (!cert || !key) return undefined;
  return { name: secretName(cluster, "ca"), of: "ca", data: { "tls.crt": cert, "tls.key": key } };
}

/** The Secret as it is applied. */
export function secretManifest(plan: SecretPlan, controlPlane: KamajiControlPlane, cluster: string) {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: plan.name,
      namespace: controlPlane.metadata.namespace!,
      labels: secretLabels(plan.of, cluster, controlPlane.metadata.name),
      ownerReferences: [controllerReference(KamajiControlPlane, controlPlane)],
    },
    type: SECRET_TYPE,
    data: plan.data,
  };
}

/** Whether a Secret is the tenant's own: a tenant of the cluster's name has the CA under the very name already. */
export const isOfTenant = (secret: KubeObject): boolean =>
  secret.metadata.ownerReferences?.some(({ kind }) => kind === "TenantControlPlane") === true;
