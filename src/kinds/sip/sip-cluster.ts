import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { moment, text, textMap, texts } from "../optional.ts";
import { services } from "./services.ts";

const labelSelector = z
  .object({
    matchLabels: textMap("Labels with the value that each must have."),
    matchExpressions: z
      .array(
        z.object({
          key: z.string().describe("Label that the expression is about."),
          operator: z.string().describe("In, NotIn, Exists or DoesNotExist."),
          values: texts("Values for In and NotIn."),
        }),
      )
      .optional()
      .describe("Expressions, all of which must hold."),
  })
  .optional()
  .describe("Labels of the hosts that may be taken. Empty: any host.");

const nodeSet = z.object({
  labelSelector,
  topologyKey: text("Label of the hosts. No two hosts of the role have the same value of it."),
  vmFlavor: z
    .string()
    .regex(/^[^=]+=[^=]*$/)
    .optional()
    .describe("Spelling of before March 2021: label and value that the hosts must have, as label=value."),
  spreadTopology: z
    .enum(["PerRack", "PerHost"])
    .optional()
    .describe(
      "Spelling of before March 2021: topologyKey sip.airshipit.org/rack (PerRack) or sip.airshipit.org/server (PerHost).",
    ),
  count: z
    .object({
      active: z.int().min(0).optional().describe("Hosts in use. Default: 0."),
      standby: z.int().min(0).optional().describe("Hosts in reserve. Default: 0."),
    })
    .optional()
    .describe("How many hosts the role has. Default: none."),
});

const host = z.object({
  name: z.string().describe("Name of the BareMetalHost."),
  namespace: z.string().describe("Its namespace."),
  role: z.string().describe("Role of the host."),
  standing: z.enum(["active", "standby"]).describe("active or standby: the last that came are on standby."),
  claimedAt: moment("When it was claimed."),
  usedBy: text("Object that the host was handed to, such as a Metal3Machine."),
  addresses: textMap("By the id of a network: the address of the host in it."),
  bmc: text("Address of its management controller."),
});

const endpoint = z.object({
  service: z.string().describe("Name of the Service, and of its Deployment."),
  kind: z.string().describe("Field of spec.services that it serves."),
  address: text("Address of this cluster's nodes, as clusterIP of the service names it."),
  ports: z.array(z.int()).optional().describe("Ports on every node of this cluster."),
  servers: z.array(z.string()).optional().describe("Addresses that a load balancer balances over."),
  available: z.boolean().describe("Every Pod of the current configuration runs and is ready."),
});

const tenant = z.object({
  certSANs: z.array(z.string()).optional().describe("Addresses that the certificate of its API server has, too."),
  oidc: z
    .object({
      issuer: z.string().describe("URL of the provider."),
      clientID: z.string().describe("Client that tokens are issued for."),
      ca: z.string().describe("Authority of the certificate of the provider, as PEM."),
      configMap: z.string().describe("ConfigMap of the same namespace that has the authority as ca.crt."),
    })
    .optional()
    .describe("OpenID Connect provider that its API server trusts."),
  groupBindings: z
    .array(
      z.object({
        group: z.string().describe("Group of users."),
        clusterRole: z.string().describe("ClusterRole that the group has."),
      }),
    )
    .optional()
    .describe("What groups of users may do in it."),
});

/** A tenant's sub-cluster out of the inventory (Airship's SIP): its hosts, and the services before them. */
export const SIPCluster = defineKind({
  group: "airship.airshipit.org",
  version: "v1",
  kind: "SIPCluster",
  plural: "sipclusters",
  namespaced: true,
  description: "Hosts of the inventory that make up a sub-cluster, and the services deployed for it.",
  spec: z.object({
    nodes: z.record(z.string(), nodeSet).optional().describe("By role: which hosts it has. ControlPlane and Worker."),
    topologyKey: text(
      "Label of the hosts. No two hosts of the sub-cluster, whatever their role, have the same value of it. Not part of SIP.",
    ),
    services,
  }),
  status: z.object({
    observedGeneration: z.int().optional(),
    scheduled: text("Hosts that it has, of those that it is to have: 4/4."),
    hosts: z.array(host).optional().describe("Its hosts."),
    passedOver: z
      .array(
        z.object({
          host: z.string().describe("Namespace and name of the BareMetalHost."),
          role: z.string().describe("Role that it was looked at for."),
          reason: z.string().describe("Why it was not taken."),
        }),
      )
      .optional()
      .describe("Hosts that were not taken for a role that is short of hosts; the first 50."),
    endpoints: z.array(endpoint).optional().describe("Where its services are reached."),
    tenant: tenant
      .optional()
      .describe("What a hosted control plane of the sub-cluster is run with, beside what its own object says."),
    waitingFor: text("What the next step waits for."),
    waitingSince: moment("Start of the wait."),
    conditions: Conditions.optional(),
  }),
  columns: [
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "Hosts", type: "string", jsonPath: ".status.scheduled" },
    { name: "Waiting", type: "string", jsonPath: ".status.waitingFor", priority: 1 },
  ],
});
export type SIPCluster = Of<typeof SIPCluster>;
export type NodeSet = z.output<typeof nodeSet>;
export type SIPClusterStatus = NonNullable<SIPCluster["status"]>;
export type ScheduledHost = NonNullable<SIPClusterStatus["hosts"]>[number];
export type Endpoint = NonNullable<SIPClusterStatus["endpoints"]>[number];
export type TenantSettings = NonNullable<SIPClusterStatus["tenant"]>;
export type PassedOver = NonNullable<SIPClusterStatus["passedOver"]>[number];
