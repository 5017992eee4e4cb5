/** The status of a TenantControlPlane, field by field as Kamaji writes it. */
import { z } from "zod";
import { Conditions } from "../condition.ts";
import { moment, text } from "../optional.ts";
import { count, made, secret } from "./fields.ts";
import { gatewayStatus } from "./gateway.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };

/** `corev1.LoadBalancerStatus` or that of an Ingress. */
const loadBalancer = z
  .object({
    ingress: z
      .array(
        z.object({
          ip: text("IP address."),
          hostname: text("Host name."),
          ipMode: text("VIP or Proxy: how traffic to the address reaches nodes."),
          ports: z
            .array(
              z.object({
                port: z.int32().describe("Port."),
                protocol: z.string().describe("Protocol of the port."),
                error: z
                  .string()
                  .max(316)
                  .regex(
                    /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
                  )
                  .optional()
                  .describe("Why the port does not work."),
              }),
            )
            .optional()
            .describe("State of the ports.")
            .meta(atomic),
        }),
      )
      .optional()
      .describe("Addresses of the load balancer.")
      .meta(atomic),
  })
  .optional()
  .describe("What the load balancer gave.");

const ref = { name: z.string().describe("Name of the object."), namespace: z.string().describe("Its namespace.") };
const service = z
  .object({
    ...ref,
    port: z.int32().describe("Port of the Service."),
    conditions: Conditions.optional(),
    loadBalancer,
  })
  .optional()
  .describe("The Service.");

const addon = (name: string) =>
  z
    .object({
      enabled: z.boolean().describe("The add-on is installed."),
      lastUpdate: moment("When it was last changed."),
    })
    .optional()
    .describe(`${name} in the tenant.`);

const refInTenant = {
  name: text("Name of the object."),
  namespace: text("Its namespace."),
  lastUpdate: moment("When it was last changed."),
};
const inTenant = (about: string) => z.object(refInTenant).optional().describe(about);

const konnectivity = z
  .object({
    enabled: z.boolean().describe("The add-on is installed."),
    service,
    certificate: secret("Certificate of the server towards kube-apiserver."),
    kubeconfig: secret("Kubeconfig of the server."),
    configMap: z
      .object({ name: text("Name of the ConfigMap."), checksum: text("Checksum of the content.") })
      .optional()
      .describe("ConfigMap that sends kube-apiserver's calls through the server."),
    sa: inTenant("Service account of the agents, in the tenant."),
    clusterrolebinding: inTenant("ClusterRoleBinding of the server, in the tenant."),
    agent: z
      .object({ ...refInTenant, mode: text("DaemonSet or Deployment.") })
      .optional()
      .describe("Agents, in the tenant."),
    gateway: gatewayStatus.describe("Route to the server."),
  })
  .optional()
  .describe("konnectivity in the tenant.");

const deployment = z
  .object({
    ...ref,
    selector: z.string().describe("Label selector of the Pods, for the scale subresource."),
    replicas: count("Pods."),
    readyReplicas: count("Pods that are ready."),
    availableReplicas: count("Pods that have been ready for long enough."),
    unavailableReplicas: count("Pods that are missing or not yet available."),
    updatedReplicas: count("Pods of the current template."),
    terminatingReplicas: count("Pods that are ending."),
    collisionCount: count("Collisions of the names of ReplicaSets."),
    observedGeneration: z.int().optional().describe("Generation of the Deployment that this is about."),
    lastUpdate: moment("When the Deployment was last changed."),
    conditions: z
      .array(
        z.object({
          type: z.string().describe("Type of the condition."),
          status: z.string().describe("True, False or Unknown."),
          reason: text("Reason in one word."),
          message: text("Reason for people."),
          lastTransitionTime: moment("When status last changed."),
          lastUpdateTime: moment("When the condition was last written."),
        }),
      )
      .optional()
      .describe("Conditions of the Deployment.")
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
  })
  .optional()
  .describe("The Deployment.");

/** Words for the state of a control plane, Kamaji's. */
export const STATES = z.enum([
  ...(["Unknown", "Provisioning", "CertificateAuthorityRotating", "Upgrading", "Migrating"] as const),
  ...(["Ready", "NotReady", "Sleeping", "WriteLimited"] as const),
]);
export type State = z.output<typeof STATES>;

export const tenantStatus = z.object({
  controlPlaneEndpoint: text("Address of kube-apiserver, host:port."),
  observedGeneration: z.int().optional().describe("Generation of the spec that this status is about."),
  kubernetesResources: z
    .object({
      version: z
        .object({
          version: text("Version of Kubernetes that runs."),
          status: STATES.default("Provisioning").describe("State of the control plane."),
        })
        .optional()
        .describe("Version and state of the control plane."),
      deployment,
      service,
      ingress: z
        .object({ ...ref, loadBalancer })
        .optional()
        .describe("The Ingress."),
      gateway: gatewayStatus.describe("Route to kube-apiserver."),
    })
    .optional()
    .describe("Objects in the management cluster."),
  kubeconfig: z
    .object({
      admin: secret("Kubeconfig of administrators."),
      controllerManager: secret("Kubeconfig of kube-controller-manager."),
      scheduler: secret("Kubeconfig of kube-scheduler."),
    })
    .optional()
    .describe("Kubeconfigs that were made."),
  certificates: z
    .object({
      ca: secret("Certificate authority of the tenant."),
      apiServer: secret("Serving certificate of kube-apiserver."),
      apiServerKubeletClient: secret("Client certificate of kube-apiserver towards kubelets."),
      frontProxyCA: secret("Certificate authority for aggregated APIs."),
      frontProxyClient: secret("Client certificate of kube-apiserver towards aggregated APIs."),
      sa: secret("Key pair that signs tokens of service accounts."),
      etcd: z
        .object({
          ca: secret("Certificate authority of etcd."),
          apiServer: secret("Client certificate of kube-apiserver towards etcd."),
        })
        .optional()
        .describe("Certificates for etcd. No longer written: see storage."),
    })
    .optional()
    .describe("Certificates that were made."),
  storage: z
    .object({
      driver: text("Driver of the DataStore."),
      dataStoreName: text("DataStore that holds the tenant's objects."),
      config: z
        .object({ secretName: text("Name of the Secret."), checksum: text("Checksum of the content.") })
        .optional()
        .describe("Secret with connection, schema, user and password."),
      setup: z
        .object({ schema: text("Database, or prefix of the keys."), user: text("User."), ...made })
        .optional()
        .describe("What was made in the database."),
      certificate: secret("Client certificate towards the database."),
    })
    .optional()
    .describe("Where the tenant's objects are."),
  kubeadmconfig: z
    .object({ configmapName: text("Name of the ConfigMap."), ...made })
    .optional()
    .describe("ConfigMap with kubeadm's configuration."),
  kubeadmPhase: z
    .object({ bootstrapToken: z.object(made).describe("Rights of bootstrap tokens, and cluster-info.") })
    .optional()
    .describe("What kubeadm would do in the tenant."),
  addons: z
    .object({ coreDNS: addon("CoreDNS"), kubeProxy: addon("kube-proxy"), konnectivity })
    .optional()
    .describe("Add-ons in the tenant."),
  // Beyond Kamaji's: why something is as it is, and what is waited for.
  conditions: Conditions.optional(),
  waitingFor: text("What the next step waits for."),
  waitingSince: moment("Since when it waits for that."),
  deadline: moment("Until when."),
});
