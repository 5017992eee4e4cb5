/** A workload cluster on Cluster API's in-memory infrastructure: what a person applies, and what one looks at. */

const GROUP = "cluster.x-k8s.io";
const VERSION = "v1.36.3";
const NAMESPACE = "default";
export const CLUSTER = "tenant";

const QUICK = { provisioning: { startupDuration: "1s", startupJitter: "0" } };
const inMemory = { vm: QUICK, node: QUICK, apiServer: QUICK, etcd: QUICK };

const ref = (group: string, kind: string, name: string) => ({ apiGroup: `${group}.${GROUP}`, kind, name });
// The in-memory provider of 1.14.2 takes for granted that a DevCluster has annotations.
const object = (group: string, kind: string, name: string, spec: object) => ({
  apiVersion: `${group === "" ? "" : `${group}.`}${GROUP}/v1beta2`,
  kind,
  metadata: { name, namespace: NAMESPACE, annotations: { "example.com/test": "" } },
  spec,
});
const machineTemplate = (name: string) =>
  object("infrastructure", "DevMachineTemplate", name, { template: { spec: { backend: { inMemory } } } });

/** One machine with the control plane, two others, in the order in which they are created. */
export const objects = [
  object("infrastructure", "DevCluster", CLUSTER, { backend: { inMemory: {} } }),
  machineTemplate(`${CLUSTER}-control-plane`),
  machineTemplate(`${CLUSTER}-workers`),
  object("bootstrap", "KubeadmConfigTemplate", `${CLUSTER}-workers`, {
    template: { spec: { joinConfiguration: { nodeRegistration: { name: "worker" } } } },
  }),
  object("controlplane", "KubeadmControlPlane", `${CLUSTER}-control-plane`, {
    replicas: 1,
    version: VERSION,
    machineTemplate: {
      spec: { infrastructureRef: ref("infrastructure", "DevMachineTemplate", `${CLUSTER}-control-plane`) },
    },
    kubeadmConfigSpec: { clusterConfiguration: { apiServer: { certSANs: ["127.0.0.1"] } } },
  }),
  object("", "Cluster", CLUSTER, {
    clusterNetwork: { services: { cidrBlocks: ["10.128.0.0/12"] }, pods: { cidrBlocks: ["192.168.0.0/16"] } },
    infrastructureRef: ref("infrastructure", "DevCluster", CLUSTER),
    controlPlaneRef: ref("controlplane", "KubeadmControlPlane", `${CLUSTER}-control-plane`),
  }),
  object("", "MachineDeployment", `${CLUSTER}-workers`, {
    clusterName: CLUSTER,
    replicas: 2,
    selector: {},
    template: {
      spec: {
        clusterName: CLUSTER,
        version: VERSION,
        bootstrap: { configRef: ref("bootstrap", "KubeadmConfigTemplate", `${CLUSTER}-workers`) },
        infrastructureRef: ref("infrastructure", "DevMachineTemplate", `${CLUSTER}-workers`),
      },
    },
  }),
];

export const PLURALS: Readonly<Record<string, string>> = {
  DevCluster: "devclusters",
  DevMachineTemplate: "devmachinetemplates",
  KubeadmConfigTemplate: "kubeadmconfigtemplates",
  KubeadmControlPlane: "kubeadmcontrolplanes",
  Cluster: "clusters",
  MachineDeployment: "machinedeployments",
};

/** Where objects of a kind are; `group` before `.cluster.x-k8s.io`, empty for the core. */
export function collection(group: string, plural: string, version = "v1beta2"): string {
  return `/apis/${group === "" ? "" : `${group}.`}${GROUP}/${version}/namespaces/${NAMESPACE}/${plural}`;
}
