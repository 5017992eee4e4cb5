import { z } from "zod";
import { defineKind, type Of } from "../kind.ts";
import { moment } from "../optional.ts";
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

const purchase = z
  .object({
    attempt: z.int().describe("Number of the order, counted from 1."),
    at: z.string().describe("When the order was announced, before it was sent. RFC 3339."),
    state: z
      .enum(["Pending", "Refused", "Done"])
      .describe("Pending: the order was announced, and its result is not known yet."),
    placement: z.int().describe("Index of the plan, metro and reservation tried."),
  })
  .optional()
  .describe("The current order. Written before the order is sent.");

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
    purchase,
    boot: z
      .object({
        id: z.string().describe("Name of this boot."),
        pass: z.int().describe("1, or 2 for the second boot."),
        at: z.string().describe("When the boot was prepared. RFC 3339."),
        sent: z.boolean().optional().describe("The provider accepted the boot."),
      })
      .optional()
      .describe("The current boot. Signals of other boots are ignored."),
    install: z
      .object({
        bootID: z.string().nullable().optional(),
        scriptFetched: moment("When the machine fetched its boot script."),
        configFetched: moment("When the machine fetched its bootstrap data."),
        started: moment("When the installer reported its start."),
        succeeded: moment("When the installer reported success."),
        failed: moment("When the installer reported failure."),
        message: z.string().optional().describe("Message of the installer."),
      })
      .optional()
      .describe("What the machine itself reported of its boot."),
    release: z
      .object({
        reason: z.string(),
        at: z.string().describe("Since when. RFC 3339."),
        accepted: z.boolean().optional().describe("The provider accepted the release."),
      })
      .optional()
      .describe("Why and since when the machine is being given back."),
    failureReason: z.string().optional().describe("Why the machine will not come, in one word."),
    failureMessage: z.string().optional().describe("Why the machine will not come, in words."),
    waitingFor: z.string().optional().describe("What the next step waits for."),
    waitingSince: z.string().optional().describe("Start of the wait. RFC 3339."),
    deadline: z.string().optional().describe("End of the wait. RFC 3339."),
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
