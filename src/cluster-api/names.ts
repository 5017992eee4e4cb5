/** Labels, annotations, finalizers and Secret names of Cluster API: what providers and the core agree upon. */

const DOMAIN = "cluster.x-k8s.io";

export const LABELS = {
  clusterName: `${DOMAIN}/cluster-name`,
  controlPlane: `${DOMAIN}/control-plane`,
  controlPlaneName: `${DOMAIN}/control-plane-name`,
  setName: `${DOMAIN}/set-name`,
  deploymentName: `${DOMAIN}/deployment-name`,
  poolName: `${DOMAIN}/pool-name`,
  interruptible: `${DOMAIN}/interruptible`,
  watchFilter: `${DOMAIN}/watch-filter`,
  /** On Pods: `skip` keeps them from being drained. */
  drain: `${DOMAIN}/drain`,
  /** On definitions and Deployments: the provider that they belong to. */
  provider: `${DOMAIN}/provider`,
  templateHash: "machine-template-hash",
} as const;

export const ANNOTATIONS = {
  paused: `${DOMAIN}/paused`,
  managedBy: `${DOMAIN}/managed-by`,
  replicasManagedBy: `${DOMAIN}/replicas-managed-by`,
  deleteMachine: `${DOMAIN}/delete-machine`,
  skipRemediation: `${DOMAIN}/skip-remediation`,
  remediateMachine: `${DOMAIN}/remediate-machine`,
  disableMachineCreate: `${DOMAIN}/disable-machine-create`,
  clonedFromName: `${DOMAIN}/cloned-from-name`,
  clonedFromGroupKind: `${DOMAIN}/cloned-from-groupkind`,
  skipPreflightChecks: "machineset.cluster.x-k8s.io/skip-preflight-checks",
  excludeDrain: "machine.cluster.x-k8s.io/exclude-node-draining",
  excludeVolumeWait: "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach",
  /** Prefixes of hooks that deletion waits for. */
  preDrainHook: "pre-drain.delete.hook.machine.cluster.x-k8s.io",
  preTerminateHook: "pre-terminate.delete.hook.machine.cluster.x-k8s.io",
  revision: "machinedeployment.clusters.x-k8s.io/revision",
  desiredReplicas: "machinedeployment.clusters.x-k8s.io/desired-replicas",
  maxReplicas: "machinedeployment.clusters.x-k8s.io/max-replicas",
} as const;

/** Annotations that the core puts on Nodes. */
export const NODE_ANNOTATIONS = {
  clusterName: `${DOMAIN}/cluster-name`,
  clusterNamespace: `${DOMAIN}/cluster-namespace`,
  machine: `${DOMAIN}/machine`,
  ownerKind: `${DOMAIN}/owner-kind`,
  ownerName: `${DOMAIN}/owner-name`,
  labelsFromMachine: `${DOMAIN}/labels-from-machine`,
  annotationsFromMachine: `${DOMAIN}/annotations-from-machine`,
} as const;

export const FINALIZERS = {
  cluster: "cluster.cluster.x-k8s.io",
  machine: "machine.cluster.x-k8s.io",
  machineSet: "cluster.x-k8s.io/machineset",
  machineDeployment: "cluster.x-k8s.io/machinedeployment",
} as const;

/** Taints of Nodes that the core removes and puts on. */
export const TAINTS = {
  uninitialized: "node.cluster.x-k8s.io/uninitialized",
  outdatedRevision: "node.cluster.x-k8s.io/outdated-revision",
} as const;

/** Type of every Secret of a cluster. */
export const SECRET_TYPE = "cluster.x-k8s.io/secret";
/** What the Secrets of a cluster are for; each is called `<cluster>-<purpose>`. */
export type SecretPurpose = "kubeconfig" | "ca" | "etcd" | "proxy" | "sa";
/** Name of a cluster's Secret. */
export const secretName = (cluster: string, purpose: SecretPurpose): string => `${cluster}-${purpose}`;

export const GROUPS = {
  core: DOMAIN,
  infrastructure: `infrastructure.${DOMAIN}`,
  bootstrap: `bootstrap.${DOMAIN}`,
  controlPlane: `controlplane.${DOMAIN}`,
} as const;
