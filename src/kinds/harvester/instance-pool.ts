import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { additions, purchase, text, texts, webAddress } from "./fields.ts";

export const GROUP = "equinix.harvesterhci.io";

/** A number of equal machines that join the Harvester cluster (harvester-equinix-addon). */
export const InstancePool = defineKind({
  group: GROUP,
  version: "v1",
  kind: "InstancePool",
  plural: "instancepools",
  namespaced: false,
  shortNames: ["ipool"],
  categories: ["slipway"],
  description: "A number of equal machines that Slipway buys, installs and joins to the Harvester cluster.",
  spec: z.object({
    count: z.int().min(0).max(5000).default(0).describe("Desired number of machines."),
    ...purchase,
    managementInterface: texts("Ports that carry the management network. Default: eth0."),
    ipxeScriptUrl: webAddress("Install script of your own. Empty: Slipway's."),
    isoUrl: webAddress("Harvester ISO to install."),
    ...additions,
    updateStrategy: z
      .object({
        type: z
          .enum(["OnDelete", "RollingUpdate"])
          .optional()
          .describe("How drifted machines are replaced. Default: OnDelete."),
        maxUnavailable: z
          .int()
          .min(1)
          .optional()
          .describe("How many machines may be missing during a roll-out. Default: 1."),
      })
      .optional()
      .describe("How a change of plan, network or image reaches machines that exist."),
  }),
  status: z.object({
    status: text("tokenReady, submitted, ready or cleanupNodes."),
    ready: z.int().optional().describe("Machines whose Node joined and was Ready."),
    requested: z.int().optional().describe("Machines that the pool wants: spec.count."),
    needed: z.int().optional().describe("Machines still to be created; negative: too many."),
    token: text("No longer written: the join token is kept in Secrets only."),
    replicas: z.int().optional().describe("Instances that exist and are not being deleted."),
    selector: z.string().optional().describe("Label selector of the instances."),
    drifted: z.int().optional().describe("Instances whose machine differs from the pool's specification."),
    nextOrdinal: z.int().optional().describe("Number from which the next Instance's name is made."),
    replacements: z
      .object({ count: z.int(), at: z.string() })
      .optional()
      .describe("Machines replaced one after the other without one that joined in between, and when the last was."),
    observedGeneration: z.int().optional(),
    conditions: Conditions.optional(),
  }),
  columns: [
    { name: "Status", type: "string", jsonPath: ".status.status" },
    { name: "Ready", type: "string", jsonPath: ".status.ready" },
    { name: "Requested", type: "string", jsonPath: ".status.requested" },
    { name: "Drifted", type: "integer", jsonPath: ".status.drifted", priority: 1 },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
  ],
  rules: [
    {
      path: "",
      // One that exists must still be changeable, or its finalizer could not go.
      rule: "oldSelf.hasValue() || size(self.metadata.name) <= 54",
      message:
        "the name is longer than 54 characters: names of its instances, with 9 more, could not become labels of Nodes",
      optionalOldSelf: true,
    },
  ],
  scale: {
    specReplicasPath: ".spec.count",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
});
export type InstancePool = Of<typeof InstancePool>;
export type InstancePoolSpec = InstancePool["spec"];
export type InstancePoolStatus = NonNullable<InstancePool["status"]>;
