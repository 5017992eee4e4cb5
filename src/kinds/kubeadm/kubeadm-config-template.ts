import { z } from "zod";
import { AGE, CATEGORIES, templateMetadata } from "../cluster-api/fields.ts";
import { losslessConversion } from "../cluster-api/lossless-conversion.ts";
import { defineKind, type Of } from "../kind.ts";
import { specMoves } from "./conversion.ts";
import { CONTRACTS, GROUP, specV1beta1, specV1beta2 } from "./kubeadm-config.ts";

const common = {
  group: GROUP,
  kind: "KubeadmConfigTemplate",
  plural: "kubeadmconfigtemplates",
  namespaced: true,
  categories: CATEGORIES,
  labels: CONTRACTS,
  description: "The KubeadmConfig of each machine of a MachineSet or MachineDeployment (Cluster API).",
  columns: [AGE],
};

const template = <Spec extends z.ZodRawShape>(spec: Spec) =>
  z.object({
    template: z
      .object({
        metadata: templateMetadata,
        spec: z.object(spec).optional().describe("Specification of each KubeadmConfig."),
      })
      .describe("What each KubeadmConfig is made of."),
  });

export const KubeadmConfigTemplate = defineKind({ ...common, version: "v1beta2", spec: template(specV1beta2) });
export type KubeadmConfigTemplate = Of<typeof KubeadmConfigTemplate>;

export const KubeadmConfigTemplateV1beta1 = defineKind({
  ...common,
  version: "v1beta1",
  spec: template(specV1beta1),
  conversion: losslessConversion({ moves: specMoves("spec.template.spec") }),
});
