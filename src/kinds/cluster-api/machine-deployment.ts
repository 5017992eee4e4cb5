import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { flag, moment } from "../optional.ts";
import { deprecatedCounters, machineMoves, statusMoves, versionMoves } from "./conversion-moves.ts";
import {
  AGE,
  bounded,
  CATEGORIES,
  CLUSTER,
  CONTRACT_LABELS,
  clusterName,
  conditionColumn,
  deletionOrder,
  GROUP,
  immutable,
  integerColumn,
  machineNaming,
  number,
  OldConditions,
  observedGeneration,
  PAUSED,
  portion,
  SCALE,
  selector,
  stringColumn,
  templateMetadata,
  versions,
} from "./fields.ts";
import { losslessConversion } from "./lossless-conversion.ts";
import { machineSpec, machineSpecV1beta1 } from "./machine-fields.ts";

const replicas = z.int32().default(1).describe("How many Machines are wanted.");
const paused = flag("Whether the roll-out stands still. Scaling goes on.");
const selected = selector.describe("Which Machines belong to the deployment. Empty: a label with its name is used.");
const maxSurge = portion("Machines above the wanted number during a roll-out; number or percentage. Default: 1.");
const maxUnavailable = portion("Machines that may be missing during a roll-out; number or percentage. Default: 0.");
const maxInFlight = portion("Machines that may be remediated at a time; number or percentage. Default: all.");
const strategyType = z
  .enum(["RollingUpdate", "OnDelete"])
  .describe("RollingUpdate replaces Machines step by step; OnDelete only those that a user deletes.");
const counted = {
  replicas: number("Machines that exist."),
  readyReplicas: number("Machines that are Ready."),
  availableReplicas: number("Machines that are Available."),
};
const status = {
  selector: bounded(4096, "Label selector of the Machines."),
  versions,
  phase: z
    .enum(["ScalingUp", "ScalingDown", "Running", "Failed", "Unknown"])
    .optional()
    .describe("What the deployment is doing."),
  observedGeneration,
};
const common = {
  group: GROUP,
  kind: "MachineDeployment",
  plural: "machinedeployments",
  namespaced: true,
  shortNames: ["md"],
  categories: CATEGORIES,
  labels: CONTRACT_LABELS,
  description: "A number of equal Machines that are replaced step by step when their template changes (Cluster API).",
  scale: SCALE,
};
const CLUSTER_IS_FIXED = immutable("spec.clusterName");
const SAME_CLUSTER = {
  path: "spec",
  rule: "!has(self.template.spec) || self.template.spec.clusterName == self.clusterName",
  message: "template.spec.clusterName must be equal to clusterName",
};
const NAME_IS_LABEL = {
  path: "",
  rule: "oldSelf.hasValue() || size(self.metadata.name) <= 63",
  message: "the name is longer than 63 characters and can't become a label",
  optionalOldSelf: true,
} as const;
const version = stringColumn("Version", ".spec.template.spec.version");

const PACE = "self.rollout.strategy.rollingUpdate";

/** Machines that are rolled out (Cluster API, v1beta2). */
export const MachineDeployment = defineKind({
  ...common,
  version: "v1beta2",
  spec: z.object({
    clusterName,
    replicas,
    paused,
    selector: selected,
    template: z.object({ metadata: templateMetadata, spec: machineSpec }).describe("What Machines are made of."),
    rollout: z
      .object({
        after: moment("Machines made before this time are replaced once it has come."),
        strategy: z
          .object({
            type: strategyType,
            rollingUpdate: z.object({ maxSurge, maxUnavailable }).optional().describe("Pace of a RollingUpdate."),
          })
          .optional()
          .describe("How Machines are replaced."),
      })
      .optional()
      .describe("How a changed template reaches the Machines."),
    remediation: z.object({ maxInFlight }).optional().describe("Pace of remediation."),
    machineNaming,
    deletion: z.object({ order: deletionOrder }).optional().describe("How Machines are chosen for deletion."),
  }),
  status: z.object({
    conditions: Conditions.optional(),
    ...counted,
    upToDateReplicas: number("Machines that are up to date."),
    ...status,
    deprecated: deprecatedCounters(
      ["readyReplicas", "availableReplicas", "updatedReplicas", "unavailableReplicas"],
      [],
    ),
  }),
  columns: [
    CLUSTER,
    conditionColumn("Available"),
    integerColumn("Desired", ".spec.replicas"),
    integerColumn("Current", ".status.replicas"),
    integerColumn("Ready", ".status.readyReplicas"),
    integerColumn("Available", ".status.availableReplicas"),
    integerColumn("Up-to-date", ".status.upToDateReplicas"),
    PAUSED,
    stringColumn("Phase", ".status.phase"),
    AGE,
    version,
  ],
  rules: [
    CLUSTER_IS_FIXED,
    SAME_CLUSTER,
    NAME_IS_LABEL,
    {
      path: "spec",
      rule: `!has(self.rollout) || !has(self.rollout.strategy) || !has(self.rollout.strategy.rollingUpdate) || !has(${PACE}.maxSurge) || !(string(${PACE}.maxSurge) in ['0', '0%']) || (has(${PACE}.maxUnavailable) && !(string(${PACE}.maxUnavailable) in ['0', '0%']))`,
      message: "maxSurge and maxUnavailable can't both be 0: no Machine could be replaced",
    },
  ],
});
export type MachineDeployment = Of<typeof MachineDeployment>;
export type MachineDeploymentStatus = NonNullable<MachineDeployment["status"]>;

/** The same as v1beta1 has it. */
export const MachineDeploymentV1beta1 = defineKind({
  ...common,
  version: "v1beta1",
  spec: z.object({
    clusterName,
    replicas,
    paused,
    minReadySeconds: number("How long a Machine must be Ready to count as available."),
    progressDeadlineSeconds: number("No longer used."),
    revisionHistoryLimit: number("No longer used."),
    rolloutAfter: moment("Machines made before this time are replaced once it has come."),
    selector: selected,
    template: z
      .object({ metadata: templateMetadata, spec: machineSpecV1beta1.optional() })
      .describe("What Machines are made of."),
    strategy: z
      .object({
        type: strategyType.optional(),
        rollingUpdate: z
          .object({ maxSurge, maxUnavailable, deletePolicy: deletionOrder })
          .optional()
          .describe("Pace of a RollingUpdate."),
        remediation: z.object({ maxInFlight }).optional().describe("Pace of remediation."),
      })
      .optional()
      .describe("How Machines are replaced."),
    machineNamingStrategy: machineNaming,
  }),
  status: z.object({
    conditions: OldConditions.optional(),
    ...counted,
    updatedReplicas: number("Machines of the current template."),
    unavailableReplicas: number("Machines that are missing or not available."),
    ...status,
    v1beta2: z
      .object({
        conditions: Conditions.optional(),
        readyReplicas: number("Machines that are Ready."),
        availableReplicas: number("Machines that are Available."),
        upToDateReplicas: number("Machines that are up to date."),
      })
      .optional()
      .describe("What v1beta2 has."),
  }),
  columns: [
    CLUSTER,
    integerColumn("Desired", ".spec.replicas", 10),
    integerColumn("Replicas", ".status.replicas"),
    integerColumn("Ready", ".status.readyReplicas"),
    integerColumn("Updated", ".status.updatedReplicas"),
    integerColumn("Unavailable", ".status.unavailableReplicas"),
    stringColumn("Phase", ".status.phase"),
    AGE,
    version,
  ],
  rules: [CLUSTER_IS_FIXED, SAME_CLUSTER],
  conversion: losslessConversion({
    moves: [
      ["spec.minReadySeconds", "spec.template.spec.minReadySeconds"],
      ["spec.progressDeadlineSeconds", undefined],
      ["spec.revisionHistoryLimit", undefined],
      ["spec.rolloutAfter", "spec.rollout.after"],
      ["spec.strategy.rollingUpdate.deletePolicy", "spec.deletion.order"],
      ["spec.strategy.remediation", "spec.remediation"],
      ["spec.strategy", "spec.rollout.strategy"],
      ["spec.machineNamingStrategy", "spec.machineNaming"],
      ...machineMoves("spec.template.spec"),
      ...statusMoves("readyReplicas", "availableReplicas", "updatedReplicas", "unavailableReplicas"),
      ...versionMoves("readyReplicas", "availableReplicas", "upToDateReplicas"),
    ],
    neverEmpty: [
      "spec.rollout.strategy.rollingUpdate",
      "spec.rollout.strategy",
      "spec.rollout",
      "spec.remediation",
      "spec.deletion",
      "spec.machineNaming",
      "spec.template.metadata",
      "spec.template.spec.deletion",
      "spec.template.spec.readinessGates",
      "spec.template.spec.taints",
    ],
    defaults: { "spec.rollout.strategy": { type: "RollingUpdate" } },
  }),
});
