import { z } from "zod";
import { defineKind, type Of } from "../kind.ts";
import { machineJournal } from "../machine-journal.ts";
import {
  CATEGORIES,
  CLUSTER_COLUMN,
  CONTRACTS,
  conditions,
  GROUP,
  initialization,
  machineSpec,
  VERSION,
} from "./fields.ts";
import { machineRules } from "./rules.ts";

/** A machine of a cluster (Cluster API provider Packet): one machine at a provider, or an own host. */
export const PacketMachine = defineKind({
  group: GROUP,
  version: VERSION,
  kind: "PacketMachine",
  plural: "packetmachines",
  namespaced: true,
  shortNames: ["pma"],
  categories: CATEGORIES,
  labels: CONTRACTS,
  description: "The machine behind a Machine of Cluster API.",
  spec: machineSpec,
  status: z.object({
    ready: z.boolean().optional().describe("The machine was handed over and has its bootstrap data."),
    initialization,
    addresses: z
      .array(
        z.object({
          type: z.string().describe("Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS."),
          address: z.string().describe("The address."),
        }),
      )
      .optional()
      .describe("Addresses of the machine."),
    instanceStatus: z.string().optional().describe("State of the machine, as the provider calls it."),
    instanceState: z.string().optional().describe("The same as instanceStatus, for clients that look here."),
    instanceID: z.string().optional().describe("Id of the machine at the provider."),
    interruptible: z.boolean().optional().describe("The provider may take the machine back (spot market)."),
    provider: z.string().optional().describe("Driver that serves it: equinix, latitude or inventory."),
    account: z
      .object({
        provider: z.string().optional().describe("Name of the MachineProvider."),
        secret: z.string().optional().describe("Namespace and name of the Secret with the API key."),
        project: z.string().optional().describe("Id of the project."),
      })
      .optional()
      .describe("The account that the machine was ordered with."),
    failureDomain: z.string().optional().describe("Metro that the machine is in."),
    placement: z
      .object({
        machineType: z.string().optional(),
        metro: z.string().optional(),
        reservation: z.string().optional(),
      })
      .optional()
      .describe("What the machine was ordered as."),
    vip: z
      .object({
        address: z
          .boolean()
          .optional()
          .describe("The elastic IP was seen to: it has it, or another control plane machine."),
        session: z.boolean().optional().describe("Its BGP session was opened."),
      })
      .optional()
      .describe("What was done for the control plane's elastic IP."),
    ...machineJournal,
    observedGeneration: z.int().optional(),
    conditions,
  }),
  columns: [
    CLUSTER_COLUMN,
    { name: "State", type: "string", jsonPath: ".status.instanceState" },
    { name: "Ready", type: "string", jsonPath: ".status.ready" },
    { name: "InstanceID", type: "string", jsonPath: ".spec.providerID" },
    { name: "Machine", type: "string", jsonPath: '.metadata.ownerReferences[?(@.kind=="Machine")].name' },
    { name: "Waiting", type: "string", jsonPath: ".status.waitingFor", priority: 1 },
  ],
  rules: machineRules,
});
export type PacketMachine = Of<typeof PacketMachine>;
export type PacketMachineSpec = PacketMachine["spec"];
export type PacketMachineStatus = NonNullable<PacketMachine["status"]>;
