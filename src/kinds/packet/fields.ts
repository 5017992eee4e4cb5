/** What the kinds of Cluster API's provider for Packet (Equinix Metal) share. Fields keep the original's spelling; Slipway's own are optional. */
import type { Condition } from "@slipway/kube";
import { z } from "zod";
import { text, texts } from "../optional.ts";

export const GROUP = "infrastructure.cluster.x-k8s.io";
export const VERSION = "v1beta1";
export const CATEGORIES = ["cluster-api"] as const;

/** Which version serves each contract of Cluster API: the status has the fields of both. For `move`, what clusterctl looks for. */
export const CONTRACTS = {
  "cluster.x-k8s.io/v1beta1": VERSION,
  "cluster.x-k8s.io/v1beta2": VERSION,
  "clusterctl.cluster.x-k8s.io": "",
} as const;

export const CLUSTER_COLUMN = {
  name: "Cluster",
  type: "string",
  jsonPath: ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",
} as const;

/** Conditions of both contracts: `severity` is of the older one, `observedGeneration` of the newer. */
export const conditions = z
  .array(
    z.object({
      type: z.string().describe("Type of the condition."),
      status: z.string().describe("True, False or Unknown."),
      severity: text("Of conditions that are False: Error, Warning or Info."),
      reason: text("Reason in CamelCase."),
      message: text("What is so, in words."),
      lastTransitionTime: z.string().meta({ format: "date-time" }).describe("When the status last changed."),
      observedGeneration: z.int().optional().describe("Generation of the specification that this is about."),
    }),
  )
  .optional()
  .describe("Current conditions of the object, one per type.")
  .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }) as unknown as z.ZodOptional<
  z.ZodType<Condition[]>
>;

/** What the newer contract reads where the older one reads `status.ready`. */
export const initialization = z
  .object({ provisioned: z.boolean().optional().describe("The infrastructure was there once. Never becomes false.") })
  .optional()
  .describe("How far the first provisioning is.");

export const providerRef = z
  .object({ name: z.string().min(1).max(253).describe("Name of the MachineProvider.") })
  .optional();

export const templateMetadata = z
  .object({
    labels: z.record(z.string(), z.string()).optional().describe("Labels of the objects that are made of it."),
    annotations: z
      .record(z.string(), z.string())
      .optional()
      .describe("Annotations of the objects that are made of it."),
  })
  .optional()
  .describe("Labels and annotations of the objects that are made of it.");

/** Whether what was made goes with its object. `of`: the field's description. */
export const reclaimPolicy = (of: string) => z.enum(["Delete", "Retain"]).optional().describe(of);

const host = z.object({
  host: z.string().describe("Address or name of the API server."),
  port: z.int32().describe("Port of the API server."),
});

/** Fields of a PacketCluster's specification. */
export const clusterSpec = z.object({
  projectID: z.string().describe("Id of the project that machines and addresses are ordered in. Can't be changed."),
  metro: text("Metro of the machines that name none, and of the elastic IP."),
  facility: text("Facility, of old manifests. The API has metros instead; its metro is used."),
  controlPlaneEndpoint: host
    .optional()
    .describe("Where the control plane is reached. Empty: the elastic IP that is reserved for it."),
  vipManager: z
    .enum(["CPEM", "KUBE_VIP", "EMLB", "NONE"])
    .default("CPEM")
    .describe(
      "Who moves the control plane's elastic IP: CPEM or KUBE_VIP in the workload cluster. NONE: there is no elastic IP. EMLB is refused: the service has ended.",
    ),
  providerRef: providerRef.describe(
    "Which MachineProvider serves the machines that name none. Empty: Equinix Metal, with the key of credentialsRef or of the provider's Secret.",
  ),
  credentialsRef: z
    .object({ name: z.string().min(1).max(253).describe("Name of the Secret.") })
    .optional()
    .describe(
      "Secret beside the object with the API key in PACKET_API_KEY. Empty: the operator's own. Not used with a providerRef.",
    ),
  reclaimPolicy: reclaimPolicy(
    "What becomes of the elastic IP when the object is deleted: it is released (Delete) or kept (Retain). Default: Delete.",
  ),
});

/** Fields of a PacketMachine's specification. */
export const machineSpec = z.object({
  os: z.string().describe("Operating system, by the provider's name of it."),
  machineType: z.string().describe("Hardware plan: the provider's name of it, or one that the MachineProvider maps."),
  billingCycle: text("hourly, daily, monthly or yearly. Empty: the provider's default."),
  facility: text("Facility, of old manifests. The API has metros instead; its metro is used."),
  metro: text("Metro to order in. Empty: the PacketCluster's."),
  ipxeURL: text("Boot script, for the operating system custom_ipxe."),
  hardwareReservationID: text("Reserved machines: an id, ids separated by commas, or next-available."),
  sshKeys: texts(
    "SSH keys to put on the machine: ids of the project's, or public keys. Empty: all keys of the project.",
  ),
  tags: texts("Tags of the machine, besides the provider's own."),
  providerID: text("The machine, as its Node names it. Set by the controller."),
  metros: texts("More metros to try, in order, when the first has no capacity."),
  machineTypes: texts("More plans to try, in order, when no metro has the first."),
  spot: z
    .object({ maxPrice: text("Highest price an hour. Empty: the provider's own limit.") })
    .optional()
    .describe("Order on the spot market."),
  providerRef: providerRef.describe("Which MachineProvider serves the machine. Empty: the PacketCluster's."),
  reclaimPolicy: reclaimPolicy(
    "What becomes of the machine when the object is deleted: it is given back (Delete) or left as it is (Retain). Default: Delete.",
  ),
});
