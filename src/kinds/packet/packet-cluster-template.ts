import { z } from "zod";
import { defineKind, type Of } from "../kind.ts";
import { CATEGORIES, CONTRACTS, clusterSpec, GROUP, templateMetadata, VERSION } from "./fields.ts";
import { immutable } from "./rules.ts";

/** What a ClusterClass makes PacketClusters of. */
export const PacketClusterTemplate = defineKind({
  group: GROUP,
  version: VERSION,
  kind: "PacketClusterTemplate",
  plural: "packetclustertemplates",
  namespaced: true,
  shortNames: ["pclt"],
  categories: CATEGORIES,
  labels: CONTRACTS,
  description: "What a ClusterClass makes PacketClusters of.",
  spec: z.object({
    template: z
      .object({ metadata: templateMetadata, spec: clusterSpec.describe("Specification of the PacketClusters.") })
      .describe("The PacketClusters that are made of it."),
  }),
  columns: [],
  rules: [immutable("spec.template.spec")],
});
export type PacketClusterTemplate = Of<typeof PacketClusterTemplate>;
