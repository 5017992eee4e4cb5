import { z } from "zod";
import { defineKind, type Of } from "../kind.ts";
import {
  CATEGORIES,
  CLUSTER_COLUMN,
  CONTRACTS,
  clusterSpec,
  conditions,
  GROUP,
  initialization,
  VERSION,
} from "./fields.ts";
import { clusterRules } from "./rules.ts";

/** What a workload cluster of Packet machines has in common (Cluster API provider Packet). */
export const PacketCluster = defineKind({
  group: GROUP,
  version: VERSION,
  kind: "PacketCluster",
  plural: "packetclusters",
  namespaced: true,
  shortNames: ["pcl"],
  categories: CATEGORIES,
  labels: CONTRACTS,
  description: "Project, metro and control plane address of a cluster whose machines are PacketMachines.",
  spec: clusterSpec,
  status: z.object({
    ready: z.boolean().optional().describe("The infrastructure that machines need is there."),
    initialization,
    elasticIP: z
      .object({
        id: z.string().optional().describe("Id of the reservation at the provider."),
        address: z.string().optional().describe("The address."),
        requestedAt: z.string().optional().describe("When it was asked for, before the request was sent. RFC 3339."),
        reclaimed: z.boolean().optional().describe("It was released."),
      })
      .optional()
      .describe("The control plane's elastic IP."),
    waitingFor: z.string().optional().describe("What the next step waits for."),
    waitingSince: z.string().optional().describe("Start of the wait. RFC 3339."),
    deadline: z.string().optional().describe("End of the wait. RFC 3339."),
    observedGeneration: z.int().optional(),
    conditions,
  }),
  columns: [
    CLUSTER_COLUMN,
    { name: "Ready", type: "string", jsonPath: ".status.ready" },
    { name: "Endpoint", type: "string", jsonPath: ".spec.controlPlaneEndpoint.host", priority: 1 },
    { name: "Waiting", type: "string", jsonPath: ".status.waitingFor", priority: 1 },
  ],
  rules: clusterRules("spec"),
});
export type PacketCluster = Of<typeof PacketCluster>;
export type PacketClusterSpec = PacketCluster["spec"];
export type PacketClusterStatus = NonNullable<PacketCluster["status"]>;
