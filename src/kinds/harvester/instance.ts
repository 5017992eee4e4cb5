import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { additions, purchase, text, texts, webAddress } from "./fields.ts";
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
  description: "One machine that Slipway buys, installs and joins to the Harvester cluster.",
  spec: z.object({
    ...purchase,
    operating_system: text("Operating system, by the provider's name of it. Default: custom_ipxe."),
    projectID: text("Project to buy the machine in. Empty: the project of the credentials."),
    userdata: text("User data of the machine."),
    ipxeScriptUrl: webAddress("Install script of your own. Empty: Slipway's."),
    managementInterfaces: texts("Ports that carry the management network. Default: eth0."),
    isoUrl: webAddress("Harvester ISO to install."),
    ...additions,
  }),
  status: z.object({
    status: text(
      "Phase of the machine: ordering, stalled, queued, provisioning, reinstalling, ready, managed, failed, releasing.",
    ),
    instanceID: text("Id of the machine at the provider."),
    publicIP: text("Public management address."),
    privateIP: text("Private management address."),
    provider: z.string().optional().describe("Provider that serves it: type, or MachineProvider's name."),
    machineState: z.string().optional().describe("State of the machine, as the provider calls it."),
    placement: z
      .object({ plan: z.string(), metro: z.string().optional() })
      .optional()
      .describe("Plan and metro that the machine was bought in."),
    purchase: z
      .object({
        attempt: z.int().describe("Number of the order, counted from 1."),
        at: z.string().describe("When the order was announced, before it was sent. RFC 3339."),
        state: z
          .enum(["Pending", "Refused", "Done"])
          .describe("Pending: the order was announced, and its result is not known yet."),
        placement: z.int().describe("Index of the plan and metro tried."),
        onDemand: z
          .boolean()
          .optional()
          .describe("Ordered at the fixed price, although the specification asks for spot."),
      })
      .optional()
      .describe("The current order. Written before the order is sent."),
    boot: z
      .object({
        id: z.string().describe("Name of this boot."),
        pass: z.int().describe("1; 2 for the second boot, after the network was set."),
        at: z.string().describe("When the boot was prepared. RFC 3339."),
        sent: z.boolean().optional().describe("The provider accepted the boot."),
      })
      .optional()
      .describe("The current boot. Signals of other boots are ignored."),
    install: z
      .object({
        bootID: z.string().nullable().optional(),
        scriptFetched: moment("When the machine fetched its boot script."),
        configFetched: moment("When the machine fetched its configuration."),
        started: moment("When the installer reported its start."),
        succeeded: moment("When the installer reported success."),
        failed: moment("When the installer reported failure."),
        message: text("Message of the installer."),
      })
      .optional()
      .describe("What the machine itself reported while it was installed."),
    node: z
      .object({
        uid: z.string().describe("Uid of the Node."),
        joined: moment("When the Node was first seen Ready."),
        machine: z.string().optional().describe("Cluster API Machine of this Node, in namespace fleet-local."),
      })
      .optional()
      .describe("The Node this machine became."),
    takenOver: z
      .object({
        from: z.string().describe("Operator that bought the machine."),
        as: z.string().describe("Last status that the other operator wrote."),
        at: z.string().describe("When the machine was taken over. RFC 3339."),
      })
      .optional()
      .describe("Set if another operator bought the machine, and perhaps installed it."),
    release: z
      .object({
        reason: z.string(),
        at: z.string(),
        drained: z.boolean().optional(),
        accepted: z.boolean().optional().describe("The provider accepted the release."),
      })
      .optional()
      .describe("Why and since when the machine is being released."),
    failure: z
      .object({ reason: z.string(), message: z.string(), at: z.string() })
      .optional()
      .describe("Why the machine will not become a Node."),
    waitingFor: z.string().optional().describe("What the next step waits for."),
    waitingSince: z.string().optional().describe("Start of the wait. RFC 3339."),
    deadline: z.string().optional().describe("End of the wait. RFC 3339."),
    drift: z.array(z.string()).optional().describe("Fields of the pool that this machine was not made with."),
    observedGeneration: z.int().optional(),
    conditions: Conditions.optional(),
  }),
  rules: [
    {
      path: "",
      rule: "oldSelf.hasValue() || size(self.metadata.name) <= 63",
      message: "the name is longer than 63 characters: it could not become a label of its Node",
      optionalOldSelf: true,
    },
  ],
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
