import { z } from "zod";
import { defineKind, type Of } from "../kind.ts";
import { CATEGORIES, CONTRACTS, GROUP, machineSpec, templateMetadata, VERSION } from "./fields.ts";
import { immutableUnlessOfClass } from "./rules.ts";

/** What MachineSets and control planes make PacketMachines of. */
export const PacketMachineTemplate = defineKind({
  group: GROUP,
  version: VERSION,
  kind: "PacketMachineTemplate",
  plural: "packetmachinetemplates",
  namespaced: true,
  shortNames: ["pmt"],
  categories: CATEGORIES,
  labels: CONTRACTS,
  description: "What MachineSets and control planes make PacketMachines of.",
  spec: z.object({
    template: z
      .object({ metadata: templateMetadata, spec: machineSpec.describe("Specification of the PacketMachines.") })
      .describe("The PacketMachines that are made of it."),
  }),
  columns: [],
  rules: [immutableUnlessOfClass],
});
export type PacketMachineTemplate = Of<typeof PacketMachineTemplate>;
