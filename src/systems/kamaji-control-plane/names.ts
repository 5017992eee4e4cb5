import { LABELS } from "../../cluster-api/names.ts";

/** Names by which users of Kamaji's control plane provider, and of Cluster API, know what belongs to a control plane. */
export const KAMAJI_CONTROL_PLANE = "kamaji-control-plane";

/** Keeps a control plane until its tenant is gone. */
export const FINALIZER = "slipway.dev/kamaji-control-plane";
/** The original's, on control planes that run in another cluster. */
export const EXTERNAL_FINALIZER = "ecr.kamaji.clastix.io/finalizer";
/** On a KamajiControlPlane: the key of the tenant's admin Secret that becomes the cluster's kubeconfig. */
export const KUBECONFIG_KEY = "kamaji.clastix.io/kubeconfig-secret-key";
/** On a KamajiControlPlane or on the infrastructure cluster: how the endpoint gets there, one of `ENDPOINT_WAYS`. */
export const ENDPOINT_ANNOTATION = "slipway.dev/control-plane-endpoint";
/** On a TenantControlPlane in another cluster: namespace and name of its control plane. */
export const CONTROL_PLANE = "slipway.dev/control-plane";
/** On a KamajiControlPlane: the name of its tenant in the other cluster, which outlives a move of the control plane. */
export const EXTERNAL_TENANT = "slipway.dev/external-tenant";
/** What the tenant in another cluster is called at first; the original provider calls it so for good. */
export const nameByUid = ({ metadata }: { metadata: { uid: string } }): string => `kcp-${metadata.uid}`;

export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** On a TenantControlPlane: a checksum of what its control plane wanted of it when it was applied. */
export const APPLIED = "slipway.dev/applied";
/** Who applies the fields of a tenant that come from its KamajiControlPlane. */
export const FIELD_MANAGER = "slipway-kamaji-control-plane";

const PREFIX = "kamaji.clastix.io";

/** Labels of the Secrets that are made for a Cluster. */
export const secretLabels = (of: "kubeconfig" | "ca", cluster: string, tenant: string): Record<string, string> => ({
  [LABELS.clusterName]: cluster,
  [`${PREFIX}/component`]: "capi",
  [`${PREFIX}/secret`]: of,
  [`${PREFIX}/cluster`]: cluster,
  [`${PREFIX}/tcp`]: tenant,
});

/** How Kamaji's own control plane provider is found: two of them would write the same objects. */
export const ORIGINAL_SIGN = { label: "control-plane-kamaji" } as const;
