import { addIp, formatIp, networkOf, parseCidr } from "@slipway/base";
import { configMap, signed, yamlDocument } from "./document.ts";
import {
  hostPort,
  type JoinFacts,
  KUBE_PUBLIC,
  KUBE_SYSTEM,
  type Manifest,
  minorOf,
  versionText,
} from "./join-facts.ts";
import { patched } from "./json-patch.ts";

/** The first minor whose kubeadm writes `v1beta4`; older ones can't read it. */
const FIRST_V1BETA4 = 31;
const V1BETA4 = "kubeadm.k8s.io/v1beta4";
const CERTIFICATES = "/etc/kubernetes/pki";
const KUBELET_HEALTH_PORT = 10248;
/** kubeadm counts on from the network's address. */
const DNS_OFFSET = 10n;

/** ConfigMap `kubeadm-config`: what the cluster is like, for kubeadm on a node. */
export function kubeadmConfig(facts: JoinFacts): Manifest {
  return configMap("kubeadm-config", KUBE_SYSTEM, { ClusterConfiguration: yamlDocument(clusterConfiguration(facts)) });
}

/** The cluster as kubeadm of its version has it. */
export function clusterConfiguration(facts: JoinFacts): object {
  const { clusterName, endpoint, registry, clusterDomain, serviceCidrs, podCidrs } = facts;
  const apiVersion = apiVersionOf(facts);
  const versioned =
    apiVersion === V1BETA4
      ? {
          apiVersion,
          apiServer: {},
          proxy: {},
          caCertificateValidityPeriod: "87600h0m0s",
          certificateValidityPeriod: "8760h0m0s",
          encryptionAlgorithm: facts.keyAlgorithm ?? "ECDSA-P256",
        }
      : { apiVersion, apiServer: { timeoutForControlPlane: "4m0s" } };
  return {
    ...versioned,
    kind: "ClusterConfiguration",
    certificatesDir: CERTIFICATES,
    clusterName,
    controlPlaneEndpoint: hostPort(endpoint),
    controllerManager: {},
    dns: imageOptions(facts.coreDNS),
    // The tenant's store is no business of its nodes: what stands here is kubeadm's default.
    etcd: { local: { dataDir: "/var/lib/etcd" } },
    imageRepository: registry,
    kubernetesVersion: versionText(facts.version),
    networking: {
      dnsDomain: clusterDomain,
      ...(podCidrs.length > 0 && { podSubnet: podCidrs.join(",") }),
      serviceSubnet: serviceCidrs.join(","),
    },
    scheduler: {},
  };
}

/** What kubeadm would be started with on a machine that is the control plane. */
export function initConfiguration(facts: JoinFacts): object {
  const { host: advertiseAddress, port: bindPort } = facts.endpoint;
  return {
    apiVersion: apiVersionOf(facts),
    kind: "InitConfiguration",
    localAPIEndpoint: { advertiseAddress, bindPort },
    nodeRegistration: { name: facts.clusterName, criSocket: "unix:///run/containerd/containerd.sock" },
  };
}

function apiVersionOf({ version }: JoinFacts): string {
  return minorOf(version) >= FIRST_V1BETA4 ? V1BETA4 : "kubeadm.k8s.io/v1beta3";
}

function imageOptions(choice: JoinFacts["coreDNS"]): object {
  const { imageRepository, imageTag } = choice ?? {};
  return { ...(imageRepository && { imageRepository }), ...(imageTag && { imageTag }) };
}

/**
 * ConfigMap `kubelet-config`: the configuration of every kubelet, with the user's patches. It has only fields that kubelets of all versions
 * know, and leaves their defaults to them. Throws `Invalid` for a patch that can't be applied.
 */
export function kubeletConfig(facts: JoinFacts): Manifest {
  const { cgroupDriver, configurationJSONPatches } = facts.kubelet;
  const configuration = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: `${CERTIFICATES}/ca.crt` },
    },
    authorization: { mode: "Webhook" },
    cgroupDriver,
    clusterDNS: dnsAddresses(facts),
    clusterDomain: facts.clusterDomain,
    healthzBindAddress: "127.0.0.1",
    healthzPort: KUBELET_HEALTH_PORT,
    rotateCertificates: true,
    staticPodPath: "/etc/kubernetes/manifests",
  };
  const kubelet = yamlDocument(patched(configuration, configurationJSONPatches));
  const manifest = configMap("kubelet-config", KUBE_SYSTEM, { kubelet });
  return configurationJSONPatches.length === 0 ? signed(manifest) : manifest;
}

/** Where nodes and Pods ask for names. */
export function dnsAddresses({ dnsServiceIPs, serviceCidrs }: JoinFacts): string[] {
  if (dnsServiceIPs.length > 0) return [...dnsServiceIPs];
  return serviceCidrs.slice(0, 1).map((cidr) => formatIp(addIp(networkOf(parseCidr(cidr)).address, DNS_OFFSET)));
}

/**
 * ConfigMap `kube-public/cluster-info`: where the API server is and by which authority it is known, for who has a token. kube-controller-manager
 * signs it in further keys of the same ConfigMap: apply this key alone.
 */
export function clusterInfo({ endpoint, caPem }: JoinFacts): Manifest {
  const cluster = {
    "certificate-authority-data": Buffer.from(caPem).toString("base64"),
    server: `https://${hostPort(endpoint)}`,
  };
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ cluster, name: "" }],
    contexts: null,
    "current-context": "",
    users: null,
  };
  return configMap("cluster-info", KUBE_PUBLIC, { kubeconfig: yamlDocument(kubeconfig) });
}
