import { z } from "zod";
import { deprecatedCounters, statusMoves, versionMoves } from "../cluster-api/conversion-moves.ts";
import { AGE, CATEGORIES, conditionColumn, OldConditions, observedGeneration, PAUSED } from "../cluster-api/fields.ts";
import { losslessConversion } from "../cluster-api/lossless-conversion.ts";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { flag, text } from "../optional.ts";
import { specMoves } from "./conversion.ts";
import { joinConfiguration, joinConfigurationV1beta1 } from "./join-fields.ts";
import { machineFields } from "./machine-fields.ts";

export const GROUP = "bootstrap.cluster.x-k8s.io";
/** Which version fulfils which contract of Cluster API, and that clusterctl moves the objects. */
export const CONTRACTS = {
  "cluster.x-k8s.io/v1beta1": "v1beta1",
  "cluster.x-k8s.io/v1beta2": "v1beta2",
  "clusterctl.cluster.x-k8s.io": "",
} as const;

export const specV1beta2 = { ...machineFields, joinConfiguration };
export const specV1beta1 = {
  ...machineFields,
  joinConfiguration: joinConfigurationV1beta1,
  useExperimentalRetryJoin: flag("Without effect."),
};

const CLUSTER = {
  name: "Cluster",
  type: "string",
  jsonPath: ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",
} as const;
const WAITING = {
  waitingFor: text("What is waited for. Absent: nothing."),
  waitingSince: z.string().meta({ format: "date-time" }).optional().describe("Since when it is waited for."),
};
const common = {
  group: GROUP,
  kind: "KubeadmConfig",
  plural: "kubeadmconfigs",
  namespaced: true,
  categories: CATEGORIES,
  labels: CONTRACTS,
  description: "How a machine becomes a Node by cloud-init and kubeadm (Cluster API).",
};

export const KubeadmConfig = defineKind({
  ...common,
  version: "v1beta2",
  spec: z.object(specV1beta2),
  status: z.object({
    conditions: Conditions.optional(),
    initialization: z
      .object({ dataSecretCreated: flag("The Secret with the data is there. Once true, it stays.") })
      .optional()
      .describe("What the first provisioning has reached."),
    dataSecretName: text("Secret that has the data."),
    observedGeneration,
    ...WAITING,
    deprecated: deprecatedCounters([], ["failureReason", "failureMessage"]),
  }),
  columns: [CLUSTER, conditionColumn("Ready"), PAUSED, AGE],
});
export type KubeadmConfig = Of<typeof KubeadmConfig>;
export type KubeadmConfigStatus = NonNullable<KubeadmConfig["status"]>;

export const KubeadmConfigV1beta1 = defineKind({
  ...common,
  version: "v1beta1",
  spec: z.object(specV1beta1),
  status: z.object({
    conditions: OldConditions.optional(),
    ready: flag("The Secret with the data is there."),
    dataSecretName: text("Secret that has the data."),
    failureReason: text("What can't be healed, in one word."),
    failureMessage: text("What can't be healed."),
    observedGeneration,
    ...WAITING,
    v1beta2: z.object({ conditions: Conditions.optional() }).optional().describe("What v1beta2 has."),
  }),
  columns: [CLUSTER, AGE],
  conversion: losslessConversion({
    moves: [
      ...specMoves("spec"),
      ["status.ready", "status.initialization.dataSecretCreated"],
      ...statusMoves("failureReason", "failureMessage"),
      ...versionMoves(),
    ],
    neverEmpty: ["status.initialization"],
  }),
});
