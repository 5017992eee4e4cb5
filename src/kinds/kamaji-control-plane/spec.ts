/** What a KamajiControlPlane and its template have in common: everything but version, replicas and endpoint. */
import { z } from "zod";
import { mounts, probeSet, probesOf, strategy, topologySpreadConstraints } from "../kamaji/deployment.ts";
import { metadata, partOfPod, partsOfPod, resources, toleration } from "../kamaji/fields.ts";
import { ADMISSION_CONTROLLERS, image, kubelet, addons as tenantAddons } from "../kamaji/tenant-kubernetes.ts";
import type { Rule } from "../kind.ts";
import { text, textMap, texts } from "../optional.ts";
import { network, networkRules } from "./network.ts";

const component = (name: string) =>
  z
    .object({
      containerImageName: z.string().min(1).optional().describe(`Image of ${name}, without registry and tag.`),
      extraArgs: texts(`Arguments of ${name}, each as --name=value.`),
      extraVolumeMounts: mounts(name),
      resources: resources(`Requests and limits of ${name}.`),
      probes: probesOf(name),
    })
    .optional()
    .describe(`How ${name} runs.`);

const externalClusterReference = z.object({
  kubeconfigSecretName: z.string().min(1).describe("Secret with the kubeconfig of the other cluster."),
  kubeconfigSecretKey: z.string().min(1).describe("Key of the kubeconfig in the Secret."),
  kubeconfigSecretNamespace: text("Namespace of the Secret. Default: that of this object."),
  deploymentNamespace: z.string().describe("Namespace in the other cluster. It must exist."),
});
export type ExternalClusterReference = z.output<typeof externalClusterReference>;

const deployment = z.object({
  nodeSelector: textMap("Labels that a node must have to run the Pods."),
  runtimeClassName: text("RuntimeClass of the Pods."),
  serviceAccountName: text("Service account of the Pods."),
  strategy: strategy.optional().describe("How Pods are replaced by those of a new version."),
  affinity: partOfPod("Affinity of the Pods, as in a Pod."),
  tolerations: z.array(toleration).optional().describe("Taints that the Pods tolerate."),
  topologySpreadConstraints,
  extraInitContainers: partsOfPod("Init containers to add, as in a Pod."),
  extraContainers: partsOfPod("Containers to add, as in a Pod."),
  extraVolumes: partsOfPod("Volumes to add, as in a Pod."),
  additionalMetadata: metadata("Labels and annotations for the Deployment."),
  podAdditionalMetadata: metadata("Labels and annotations for the Pods."),
  probes: z.object(probeSet).optional().describe("Numbers of the probes of all components."),
  externalClusterReference: externalClusterReference
    .optional()
    .describe("Another cluster, which runs the control plane. Default: this one."),
});

export const common = {
  dataStoreName: text("DataStore that holds the tenant's objects. Default: the operator's."),
  dataStoreSchema: text("Database, or prefix of the keys in etcd. Default: the tenant's UID."),
  dataStoreUsername: text("User in the database. Default: the tenant's UID. Can't be changed."),
  dataStoreOverrides: z
    .array(
      z.object({
        resource: text("Resource of Kubernetes, as kube-apiserver names it: /events, apps/deployments."),
        dataStore: text("DataStore that holds the objects of the resource."),
      }),
    )
    .optional()
    .describe("Resources that are held in another DataStore. With driver etcd only."),
  registry: z.string().default("registry.k8s.io").describe("Registry, and path in it, of the images."),
  admissionControllers: z
    .array(ADMISSION_CONTROLLERS)
    .optional()
    .describe("Admission plugins that kube-apiserver enables. Default: those of the TenantControlPlane."),
  addons: z
    .object({
      coreDNS: z
        .object({
          ...image,
          dnsServiceIPs: texts("Addresses of the DNS service. Absent or empty: network.dnsServiceIPs."),
        })
        .optional()
        .describe("CoreDNS. Present, also if empty: installed."),
      kubeProxy: z.object(image).optional().describe("kube-proxy. Present, also if empty: installed."),
      konnectivity: tenantAddons.shape.konnectivity,
    })
    .optional()
    .describe("What is installed in the tenant."),
  apiServer: component("kube-apiserver"),
  controllerManager: component("kube-controller-manager"),
  scheduler: component("kube-scheduler"),
  kine: z
    .object({ extraArgs: texts("Arguments of kine."), resources: resources("Requests and limits of kine.") })
    .optional()
    .describe("kine, which stands between kube-apiserver and a database other than etcd."),
  kubelet: kubelet
    .prefault({ cgroupfs: "systemd", preferredAddressTypes: ["InternalIP", "ExternalIP", "Hostname"] })
    .describe("Kubelets of the tenant's nodes."),
  network: network.prefault({ serviceType: "LoadBalancer" }).describe("How the control plane is reached."),
  deployment: deployment.optional().describe("Pods of the control plane."),
};

/** The rules on the common fields where they stand at `path`. */
export function commonRules(path: string): Rule[] {
  const agent = `${path}.addons.konnectivity.agent`;
  const replicas = "has(self.replicas) && self.replicas != 0";
  return [
    {
      path: `${path}.dataStoreUsername`,
      rule: "self == oldSelf",
      message: "dataStoreUsername can't be changed: the tenant's objects belong to it",
    },
    {
      path: agent,
      rule: `self.mode != 'DaemonSet' || !(${replicas})`,
      message: "replicas need mode Deployment: remove them, or set that mode",
    },
    {
      path: agent,
      rule: `self.mode != 'Deployment' || !has(self.replicas) || self.replicas > 0`,
      message: "replicas must be above 0 with mode Deployment",
    },
    ...networkRules(`${path}.network`),
  ];
}
