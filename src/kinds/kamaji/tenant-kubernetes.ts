/** `spec.kubernetes`, `spec.networkProfile` and `spec.addons`: what the tenant's cluster is like inside. */
import { z } from "zod";
import { flag, text, texts } from "../optional.ts";
import { count, partOfPod, resources, toleration } from "./fields.ts";

/** Admission plugins of kube-apiserver that may be named. Some are gone from later versions of Kubernetes. */
export const ADMISSION_CONTROLLERS = z.enum([
  ...(["AlwaysAdmit", "AlwaysDeny", "AlwaysPullImages", "CertificateApproval", "CertificateSigning"] as const),
  ...(["CertificateSubjectRestriction", "DefaultIngressClass", "DefaultStorageClass"] as const),
  ...(["DefaultTolerationSeconds", "DenyEscalatingExec", "DenyExecOnPrivileged", "DenyServiceExternalIPs"] as const),
  ...(["EventRateLimit", "ExtendedResourceToleration", "ImagePolicyWebhook"] as const),
  ...(["LimitPodHardAntiAffinityTopology", "LimitRanger", "MutatingAdmissionWebhook"] as const),
  ...(["NamespaceAutoProvision", "NamespaceExists", "NamespaceLifecycle", "NodeRestriction"] as const),
  ...(["OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize", "PersistentVolumeLabel"] as const),
  ...(["PodNodeSelector", "PodSecurity", "PodSecurityPolicy", "PodTolerationRestriction", "Priority"] as const),
  ...(["ResourceQuota", "RuntimeClass", "SecurityContextDeny", "ServiceAccount"] as const),
  ...(["StorageObjectInUseProtection", "TaintNodesByCondition", "ValidatingAdmissionWebhook"] as const),
]);

/** Kubelets of a tenant's nodes. */
export const kubelet = z.object({
  preferredAddressTypes: z
    .array(z.enum(["Hostname", "InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS"]))
    .min(1)
    .default(["InternalIP", "ExternalIP", "Hostname"])
    .describe("Types of node addresses at which kube-apiserver calls kubelets, the preferred first.")
    .meta({ "x-kubernetes-list-type": "set" }),
  cgroupfs: z
    .enum(["systemd", "cgroupfs"])
    .optional()
    .describe("Cgroup driver of the kubelets. Deprecated: use configurationJSONPatches."),
  configurationJSONPatches: z
    .array(
      z.object({
        op: z.enum(["add", "remove", "replace", "move", "copy", "test"]).describe("Operation."),
        path: z.string().describe("JSON pointer to the field, such as /cgroupDriver."),
        from: text("JSON pointer to the source of move and copy."),
        value: z.unknown().optional().describe("Value for add, replace and test."),
      }),
    )
    .optional()
    .describe("JSON patch (RFC 6902) of the kubelet configuration that nodes get when they join."),
});

export const kubernetes = z.object({
  version: z.string().max(64).describe("Version of Kubernetes, such as v1.34.2."),
  kubelet: kubelet.describe("Kubelets of the tenant's nodes."),
  admissionControllers: z
    .array(ADMISSION_CONTROLLERS)
    .default([
      ...(["CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction"] as const),
      ...(["DefaultIngressClass", "DefaultStorageClass", "DefaultTolerationSeconds", "LimitRanger"] as const),
      ...(["MutatingAdmissionWebhook", "NamespaceLifecycle", "PersistentVolumeClaimResize", "Priority"] as const),
      ...(["ResourceQuota", "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection"] as const),
      ...(["TaintNodesByCondition", "ValidatingAdmissionWebhook"] as const),
    ])
    .describe("Admission plugins that kube-apiserver enables."),
});

// Addresses and prefixes are bounded in length, so that the rules on them have a price that the API accepts.
const addresses = z.array(z.string().max(64));
const prefixes = addresses.min(1).max(2).optional();

export const networkProfile = z.object({
  address: text("Address of kube-apiserver. Empty with type LoadBalancer: the one that the load balancer gives."),
  advertiseAddress: z
    .string()
    .optional()
    .describe("IP address at which nodes reach kube-apiserver, if it differs from address."),
  allowAddressAsExternalIP: flag("The Service gets address as its external IP. With ClusterIP and NodePort only."),
  port: z.int32().default(6443).describe("Port of kube-apiserver."),
  certSANs: texts("Further names and addresses in kube-apiserver's certificate, without port."),
  serviceCidr: z
    .string()
    .max(64)
    .default("10.96.0.0/16")
    .describe("Addresses of Services. Deprecated: use serviceCidrs, which has precedence."),
  serviceCidrs: prefixes.describe("Addresses of Services: one prefix, or one of each IP family, the primary first."),
  podCidr: z
    .string()
    .max(64)
    .default("10.244.0.0/16")
    .describe("Addresses of Pods. Deprecated: use podCidrs, which has precedence."),
  podCidrs: prefixes.describe("Addresses of Pods: one prefix, or one of each IP family, the primary first."),
  dnsServiceIPs: addresses
    .max(8)
    .optional()
    .describe("Addresses of the DNS service, inside the Services' prefixes. Default: the tenth (IPv6: 16th) of each."),
  clusterDomain: z
    .string()
    .regex(/.*\..*/)
    .default("cluster.local")
    .describe("DNS domain of the cluster. Can't be changed."),
  loadBalancerClass: z
    .string()
    .min(1)
    .optional()
    .describe("Class of the load balancer. With type LoadBalancer only. Can't be changed."),
  loadBalancerSourceRanges: addresses
    .max(16)
    .optional()
    .describe("Prefixes that may reach the load balancer. Empty: all. With type LoadBalancer only."),
});
export type NetworkProfile = z.output<typeof networkProfile>;

/** A choice of an addon's image. */
export const image = {
  imageRepository: text("Registry, and path in it, of the image. Default: that of Kubernetes."),
  imageTag: text("Tag of the image. Default: the one that belongs to the version of Kubernetes."),
};
const PROXY = "registry.k8s.io/kas-network-proxy";

const konnectivityServer = z.object({
  port: z.int32().describe("Port at which agents connect."),
  image: z.string().default(`${PROXY}/proxy-server`).describe("Image of the server, without tag."),
  version: text("Tag of the image. Default: the one that belongs to the version of Kubernetes."),
  extraArgs: texts("Arguments of the server, each as --name=value."),
  resources: resources("Resources of the server."),
  securityContext: partOfPod("Security context of the server, as in a container."),
});

const konnectivityAgent = z.object({
  mode: z.enum(["DaemonSet", "Deployment"]).default("DaemonSet").describe("An agent on each node, or some agents."),
  replicas: count("Number of agents with mode Deployment."),
  image: z.string().default(`${PROXY}/proxy-agent`).describe("Image of the agent, without tag."),
  version: text("Tag of the image. Default: the one that belongs to the version of Kubernetes."),
  extraArgs: texts("Arguments of the agent, each as --name=value."),
  hostNetwork: z.boolean().default(false).describe("Agents use the network of their node, and don't wait for a CNI."),
  tolerations: z
    .array(toleration)
    .default([{ key: "CriticalAddonsOnly", operator: "Exists" }])
    .describe("Taints that the agents tolerate."),
});

export const addons = z.object({
  coreDNS: z.object(image).optional().describe("CoreDNS. Present, also if empty: installed."),
  kubeProxy: z.object(image).optional().describe("kube-proxy. Present, also if empty: installed."),
  konnectivity: z
    .object({
      server: konnectivityServer
        .prefault({ image: `${PROXY}/proxy-server`, port: 8132 })
        .describe("Server beside kube-apiserver."),
      agent: konnectivityAgent
        .prefault({ image: `${PROXY}/proxy-agent`, mode: "DaemonSet" })
        .describe("Agents on the tenant's nodes."),
    })
    .optional()
    .describe("Tunnel from kube-apiserver to nodes that it can't reach. Present, also if empty: installed."),
});
export type Addons = z.output<typeof addons>;
