/** What the kinds of cluster-api-plunder share. Fields that manifests of 2019 have are those of v1alpha1; the stored version has a place for each. */
import { z } from "zod";
import { text, texts } from "../optional.ts";
import { providerRef } from "../packet/fields.ts";

export const GROUP = "infrastructure.cluster.x-k8s.io";
export const VERSION = "v1beta1";
export const OLD_VERSION = "v1alpha1";
export const CATEGORIES = ["cluster-api"] as const;

/** Which version serves each contract of Cluster API. `move`: clusterctl takes the objects along. */
export const CONTRACTS = {
  "cluster.x-k8s.io/v1alpha2": OLD_VERSION,
  "cluster.x-k8s.io/v1beta1": VERSION,
  "cluster.x-k8s.io/v1beta2": VERSION,
  "clusterctl.cluster.x-k8s.io": "",
} as const;

/** Where fields are kept that the other version can't say. */
export const KEPT = { onStored: "slipway.dev/v1alpha1-fields", onOther: "slipway.dev/v1beta1-fields-of-v1alpha1" };

const quantity = (about: string) =>
  z
    .string()
    .max(32)
    .regex(/^[0-9]+(\.[0-9]+)?([KMGTP]i|[kMGTP])?$/)
    .optional()
    .describe(about);

/** Which hosts a machine may have. All that is said must hold. */
export const hostSelector = z
  .object({
    macAddress: text("MAC address of a card of the host: exactly this one."),
    controlPlaneMACAddresses: texts("MAC addresses of the hosts that machines of the control plane may have."),
    matchLabels: z.record(z.string(), z.string()).optional().describe("Labels of the host."),
    matchExpressions: z
      .array(
        z.object({
          key: z.string().min(1).describe("Name of the label."),
          operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe("How the label is compared."),
          values: texts("Values for In and NotIn."),
        }),
      )
      .optional()
      .describe("Conditions on the host's labels."),
    hardware: z
      .object({
        cpus: z.int().min(1).optional().describe("Processors, at least."),
        memory: quantity("Memory, at least: 64Gi."),
        disk: quantity("Size of the largest disk, at least: 400G."),
        architecture: z.enum(["x86_64", "aarch64"]).optional().describe("Architecture of the processor."),
      })
      .optional()
      .describe("Hardware of the host, as it was inspected."),
  })
  .optional()
  .describe("Which hosts the machine may have. Empty: any.");

/** Fields of a PlunderMachine's specification. */
export const machineSpec = z.object({
  providerID: text(
    "Id of the machine: plunder:// and the MAC address that the host boots from. Written when it has a host.",
  ),
  deploymentType: z
    .string()
    .max(253)
    .optional()
    .describe(
      "What is installed: an operating system of the MachineProvider, or a boot configuration of the netboot, by its name. Default: preseed.",
    ),
  hostSelector,
  plan: text("Plan of the MachineProvider that the host must fit as well. Empty: any host."),
  ipAddress: text("Address of the machine. Empty: of addressesFromPool, else by DHCP."),
  addressesFromPool: z
    .object({
      apiGroup: z.string().min(1).describe("API group of the pool: ipam.cluster.x-k8s.io."),
      kind: z.string().min(1).describe("Kind of the pool: InClusterIPPool."),
      name: z.string().min(1).describe("Name of the pool."),
    })
    .optional()
    .describe("Pool of addresses (Cluster API's IPAM contract) that the machine's address is claimed from."),
  providerRef: providerRef.describe(
    "MachineProvider of the type inventory that gives the host. Default: that of the PlunderCluster, else the netboot that Secret plunder names, else MachineProvider plunder.",
  ),
  dockerVersion: text("Version of docker, of old manifests. Without effect: machines run containerd."),
});

const host = z.object({
  host: z.string().describe("Address or name of the API server."),
  port: z.int32().describe("Port of the API server."),
});

/** Fields of a PlunderCluster's specification. */
export const clusterSpec = z.object({
  controlPlaneEndpoint: host
    .optional()
    .describe(
      "Where the control plane is reached. Empty: the address of the first machine of the control plane, port 6443.",
    ),
  controlPlaneMACAddress: text("MAC address of the host that a machine of the control plane has which names none."),
  providerRef: providerRef.describe(
    "MachineProvider of the type inventory for machines that name none. Default: the netboot that Secret plunder names, else MachineProvider plunder.",
  ),
});
