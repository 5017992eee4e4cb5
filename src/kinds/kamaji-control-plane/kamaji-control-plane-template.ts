import { z } from "zod";
import { metadata } from "../kamaji/fields.ts";
import { defineKind, type Of } from "../kind.ts";
import { CONTRACTS, GROUP } from "./kamaji-control-plane.ts";
import { common, commonRules } from "./spec.ts";

const of = {
  group: GROUP,
  kind: "KamajiControlPlaneTemplate",
  plural: "kamajicontrolplanetemplates",
  namespaced: true,
  shortNames: ["ktcpt"],
  categories: ["cluster-api", "kamaji"],
  labels: CONTRACTS,
  description:
    "A KamajiControlPlane to be made by a ClusterClass: without version, replicas and endpoint, which the Cluster gives.",
  spec: z.object({
    template: z
      .object({
        metadata: metadata("Labels and annotations for the KamajiControlPlane."),
        spec: z.object(common).optional().describe("Fields for the KamajiControlPlane."),
      })
      .describe("The KamajiControlPlane that is made."),
  }),
  columns: [],
  rules: commonRules("spec.template.spec"),
};

export const KamajiControlPlaneTemplate = defineKind({ ...of, version: "v1alpha2" });
export type KamajiControlPlaneTemplate = Of<typeof KamajiControlPlaneTemplate>;
/** The same fields under the former version's name. */
export const KamajiControlPlaneTemplateV1alpha1 = defineKind({ ...of, version: "v1alpha1" });
