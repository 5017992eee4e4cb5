/** Names of what bootstraps machines by kubeadm. */
export const KUBEADM_BOOTSTRAP = "kubeadm-bootstrap";
/** Keeps a KubeadmConfig until its bootstrap token is removed. */
export const FINALIZER = "slipway.dev/kubeadm-bootstrap";
/** On the Secret of a bootstrap token, in the workload cluster: uid of the KubeadmConfig that it was made for. */
export const CONFIG_LABEL = "slipway.dev/kubeadm-config-uid";

/** How upstream's bootstrap provider is found: two of them would write the same Secrets. */
export const UPSTREAM_SIGN = {
  label: "bootstrap-kubeadm",
  inventory: { type: "BootstrapProvider", name: "kubeadm" },
} as const;
