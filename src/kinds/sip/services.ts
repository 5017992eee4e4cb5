/** The services of a sub-cluster (`spec.services`). Spellings and what is required are the original's; fields marked so are Slipway's own. */
import { z } from "zod";
import { flag, text, textMap, texts } from "../optional.ts";

const replicas = z
  .int()
  .min(1)
  .max(20)
  .optional()
  .describe("Number of Pods behind the one Service. Default: 1. Not part of SIP.");

const service = {
  image: z.string().describe("Image of the container."),
  nodeLabels: textMap("Labels of the nodes that the Pods run on. Default: control plane nodes are preferred."),
  nodeInterfaceId: text("Id of the network in the hosts' network data whose addresses are used."),
  clusterIP: text("Address at which the nodes of this cluster are reached, such as its virtual IP. Endpoints name it."),
};

const nodePort = z.int().describe("Port on every node of this cluster. 0: Kubernetes chooses one.");

const loadBalancerControlPlane = z.object({ ...service, nodePort, replicas });

const loadBalancerWorker = z.object({
  ...service,
  nodePort: z.int().optional().describe("Accepted and ignored: nodePortRange counts."),
  nodePortRange: z
    .object({ start: z.int().describe("First port."), end: z.int().describe("Last port.") })
    .describe("Ports on every node of this cluster, the same as on the workers."),
  replicas,
});

const jumpHost = z.object({
  ...service,
  nodePort,
  bmc: z
    .object({ proxy: flag("Whether management controllers are reached through the image's proxy. Default: false.") })
    .optional()
    .describe("How management controllers are reached."),
  sshAuthorizedKeys: texts("Public keys that may log in, as authorized_keys has them."),
  nodeSSHPrivateKeys: z
    .string()
    .describe("Secret of the same namespace whose keys each hold a private key for the hosts."),
});

const auth = z.object({
  ...service,
  nodePort,
  caSecret: text("Secret of the same namespace with the authority (tls.crt, tls.key) of Dex. Default: one is made."),
  configSecret: text(
    "Secret of the same namespace: connectors and staticPasswords of Dex, each a YAML list. Not part of SIP.",
  ),
  groupBindings: z
    .array(
      z.object({
        group: z.string().min(1).max(253).describe("Group of users, as the provider names it."),
        clusterRole: z
          .string()
          .min(1)
          .max(253)
          .regex(/^[^/%]+$/)
          .describe("ClusterRole of the sub-cluster that the group has."),
      }),
    )
    .max(100)
    .optional()
    .describe("What groups of users may do in the sub-cluster. Not part of SIP."),
});

export const services = z
  .object({
    loadBalancerControlPlane: z
      .array(loadBalancerControlPlane)
      .optional()
      .describe("Load balancers before the hosts of role ControlPlane."),
    loadBalancerWorker: z
      .array(loadBalancerWorker)
      .optional()
      .describe("Load balancers before the hosts of role Worker."),
    jumpHost: z.array(jumpHost).optional().describe("Hosts to log in to, from where all hosts are reached by SSH."),
    auth: z.array(auth).optional().describe("OpenID Connect providers (Dex) of the sub-cluster."),
  })
  .describe("What is deployed for the sub-cluster.");

export type Services = z.output<typeof services>;
export type LoadBalancerControlPlane = z.output<typeof loadBalancerControlPlane>;
export type LoadBalancerWorker = z.output<typeof loadBalancerWorker>;
export type JumpHost = z.output<typeof jumpHost>;
export type Auth = z.output<typeof auth>;
