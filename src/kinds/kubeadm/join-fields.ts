/** `spec.joinConfiguration` of a KubeadmConfig: how a machine joins its cluster by kubeadm. */
import { z } from "zod";
import { number } from "../cluster-api/fields.ts";
import { flag, text, texts } from "../optional.ts";

const taints = z
  .array(
    z.object({
      key: z.string().describe("Key of the taint."),
      value: text("Value of the taint."),
      effect: z.string().describe("NoSchedule, PreferNoSchedule or NoExecute."),
      timeAdded: z.string().meta({ format: "date-time" }).optional().describe("When it was added."),
    }),
  )
  .max(100)
  .optional()
  .describe("Taints that the Node registers with. Empty: none.");

/** Arguments of a program as v1beta2 has them: a name may repeat. */
export const argumentList = z
  .array(
    z.object({
      name: z.string().min(1).max(256).describe("Name of the argument, without dashes."),
      value: z.string().max(1024).describe("Value of the argument."),
    }),
  )
  .max(100)
  .optional()
  .describe("Arguments of the kubelet.")
  .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "value"] });
/** As v1beta1 has them. */
export const argumentMap = z.record(z.string(), z.string()).optional().describe("Arguments of the kubelet.");

const nodeRegistration = <Args extends z.ZodType>(kubeletExtraArgs: Args) =>
  z
    .object({
      name: text("Name of the Node. Default: the host's name."),
      criSocket: text("Socket of the container runtime."),
      taints,
      kubeletExtraArgs,
      ignorePreflightErrors: texts("Preflight checks of kubeadm whose errors are warnings."),
      imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).optional().describe("When images are pulled."),
      imagePullSerial: flag("Images are pulled one after the other."),
    })
    .optional()
    .describe("How the Node is registered.");

const bootstrapToken = z
  .object({
    token: text("Bootstrap token. Default: one that is made for this machine."),
    apiServerEndpoint: text("host:port of the API server. Default: the Cluster's endpoint."),
    caCertHashes: texts("Hashes of the CA's public key, such as sha256:…. Default: that of the cluster's CA."),
    unsafeSkipCAVerification: flag("The CA is not checked."),
  })
  .optional()
  .describe("Discovery by token.");

const discovery = {
  bootstrapToken,
  file: z.looseObject({}).optional().describe("Discovery by a kubeconfig file, as kubeadm has it."),
  tlsBootstrapToken: text("Token for the TLS bootstrap. Default: that of the discovery."),
};

const timeouts = z
  .object({
    controlPlaneComponentHealthCheckSeconds: number("For components of the control plane to be healthy."),
    discoverySeconds: number("For the discovery."),
    etcdAPICallSeconds: number("For calls to etcd."),
    kubeletHealthCheckSeconds: number("For the kubelet to be healthy."),
    kubernetesAPICallSeconds: number("For calls to the API."),
    tlsBootstrapSeconds: number("For the kubelet's TLS bootstrap."),
  })
  .optional()
  .describe("How long kubeadm waits. Read from Kubernetes 1.31 on, but for tlsBootstrapSeconds.");

const rest = {
  caCertPath: text("Path of the CA's certificate on the machine."),
  controlPlane: z
    .looseObject({})
    .optional()
    .describe("The machine joins as one of the control plane. Upstream's Cluster API serves that."),
  patches: z
    .object({ directory: text("Folder of the patches.") })
    .optional()
    .describe("Patches that kubeadm applies."),
  skipPhases: texts("Phases of kubeadm that are left out."),
};

export const joinConfiguration = z
  .object({
    ...rest,
    discovery: z.object(discovery).optional().describe("How the API server is found."),
    nodeRegistration: nodeRegistration(argumentList),
    timeouts,
  })
  .optional()
  .describe("How the machine joins.");
export type JoinConfiguration = NonNullable<z.output<typeof joinConfiguration>>;

export const joinConfigurationV1beta1 = z
  .object({
    apiVersion: text("Without effect."),
    kind: text("Without effect."),
    ...rest,
    discovery: z
      .object({ ...discovery, timeout: text("How long the kubelet's TLS bootstrap may take, such as 5m0s.") })
      .optional()
      .describe("How the API server is found."),
    nodeRegistration: nodeRegistration(argumentMap),
  })
  .optional()
  .describe("How the machine joins.");
