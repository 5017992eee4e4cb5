/** What MachineSets make PlunderMachines of, and ClusterClasses PlunderClusters. The original had neither. */
import { z } from "zod";
import { defineKind, type Of } from "../kind.ts";
import { templateMetadata } from "../packet/fields.ts";
import { immutable, immutableUnlessOfClass } from "../packet/rules.ts";
import { CATEGORIES, CONTRACTS, clusterSpec, GROUP, machineSpec, VERSION } from "./fields.ts";

const { "cluster.x-k8s.io/v1alpha2": _, ...labels } = CONTRACTS;
const common = { group: GROUP, version: VERSION, namespaced: true, categories: CATEGORIES, labels, columns: [] };

/** What MachineSets make PlunderMachines of. */
export const PlunderMachineTemplate = defineKind({
  ...common,
  kind: "PlunderMachineTemplate",
  plural: "plundermachinetemplates",
  shortNames: ["plmt"],
  description: "What MachineSets make PlunderMachines of.",
  spec: z.object({
    template: z
      .object({ metadata: templateMetadata, spec: machineSpec.describe("Specification of the PlunderMachines.") })
      .describe("The PlunderMachines that are made of it."),
  }),
  rules: [immutableUnlessOfClass],
});
export type PlunderMachineTemplate = Of<typeof PlunderMachineTemplate>;

/** What a ClusterClass makes PlunderClusters of. */
export const PlunderClusterTemplate = defineKind({
  ...common,
  kind: "PlunderClusterTemplate",
  plural: "plunderclustertemplates",
  shortNames: ["plclt"],
  description: "What a ClusterClass makes PlunderClusters of.",
  spec: z.object({
    template: z
      .object({ metadata: templateMetadata, spec: clusterSpec.describe("Specification of the PlunderClusters.") })
      .describe("The PlunderClusters that are made of it."),
  }),
  rules: [immutable("spec.template.spec")],
});
export type PlunderClusterTemplate = Of<typeof PlunderClusterTemplate>;
