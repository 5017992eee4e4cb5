import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { additions, purchase, text, texts } from "./fields.ts";
import { GROUP } from "./instance-pool.ts";

const moment = (about: string) => z.string().nullable().optional().describe(`${about} RFC 3339.`);

/** One machine (harvester-equinix-addon). Usually made by a pool; one made by hand works alone. */
export const Instance = defineKind({
  group: GROUP,
  version: "v1",
  kind: "Instance",
  plural: "instances",
  namespaced: false,
  shortNames: ["inst"],
  categories: ["slipway"],
  description: "One machine that is bought, installed and joined to the Harvester cluster.",
  spec: z.object({
    ...purchase,
    operating_system: text("Operating system in the provider's words. custom_ipxe unless said."),
    projectID: text("Project the machine is bought in. Empty: that of the credentials."),
    userdata: text("User data of the machine."),
    ipxeScriptUrl: text("Install script of your own. Empty: Slipway's."),
    managementInterfaces: texts("Ports that carry the management network. eth0 unless said."),
    isoUrl: text("Harvester ISO to install."),
    ...additions,
  }),
  status: z.object({
    status: text("Where the machine is: queued, provisioning, reinstalling, ready, managed, failed, releasing."),
    instanceID: text("The provider's id of the machine."),
    publicIP: text("Public management address."),
    privateIP: text("Private management address."),
    provider: z.string().optional().describe("Provider that serves it: type, or MachineProvider's name."),
    machineState: z.string().optional().describe("The provider's own word for the machine's state."),
    placement: z.object({ plan: z.string(), metro: z.string().optional() }).optional().describe("Where it was bought."),
    purchase: z
      .object({
        attempt: z.int().describe("Number of the order."),
        at: z.string().describe("When it was about to be sent."),
        state: z
          .enum(["Pending", "Refused", "Done"])
          .describe("Pending: sent or about to be; the answer is not known."),
        placement: z.int().describe("Index of the plan and metro tried."),
        onDemand: z.boolean().optional().describe("Ordered at the fixed price, although spot is wanted."),
      })
      .optional()
      .describe("The order, written before it is sent."),
    boot: z
      .object({
        id: z.string().describe("Name of this boot."),
        pass: z.int().describe("1, or 2 where the network is set first."),
        at: z.string().describe("When it was prepared."),
        sent: z.boolean().optional().describe("The provider accepted it."),
      })
      .optional()
      .describe("The boot that counts now. Signals of others are ignored."),
    install: z
      .object({
        bootID: z.string().nullable().optional(),
        scriptFetched: moment("When the machine fetched its boot script."),
        configFetched: moment("When it fetched its configuration."),
        started: moment("When the installer said that it started."),
        succeeded: moment("When the installer said that it succeeded."),
        failed: moment("When the installer said that it failed."),
        message: text("What the installer said."),
      })
      .optional()
      .describe("What the machine itself reported while it was installed."),
    node: z
      .object({
        uid: z.string().describe("Uid of the Node."),
        joined: moment("When it was seen Ready first."),
        machine: z.string().optional().describe("Cluster API Machine in fleet-local that stands for it."),
      })
      .optional()
      .describe("The Node this machine became."),
    release: z
      .object({
        reason: z.string(),
        at: z.string(),
        drained: z.boolean().optional(),
        accepted: z.boolean().optional().describe("The provider took it back."),
      })
      .optional()
      .describe("Why and since when the machine is given back."),
    failure: z
      .object({ reason: z.string(), message: z.string(), at: z.string() })
      .optional()
      .describe("Why this machine will not come."),
    waitingFor: z.string().optional().describe("What is waited for."),
    waitingSince: z.string().optional().describe("Since when. RFC 3339."),
    deadline: z.string().optional().describe("When waiting ends. RFC 3339."),
    drift: z.array(z.string()).optional().describe("Fields of the pool that this machine was not made with."),
    observedGeneration: z.int().optional(),
    conditions: Conditions.optional(),
  }),
  columns: [
    { name: "Status", type: "string", jsonPath: ".status.status" },
    { name: "InstanceID", type: "string", jsonPath: ".status.instanceID" },
    { name: "publicIP", type: "string", jsonPath: ".status.publicIP" },
    { name: "privateIP", type: "string", jsonPath: ".status.privateIP" },
    { name: "Waiting", type: "string", jsonPath: ".status.waitingFor", priority: 1 },
    { name: "Machine", type: "string", jsonPath: ".status.machineState", priority: 1 },
  ],
});
export type Instance = Of<typeof Instance>;
export type InstanceSpec = Instance["spec"];
export type InstanceStatus = NonNullable<Instance["status"]>;
