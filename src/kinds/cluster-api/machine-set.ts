import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { deprecatedCounters, machineMoves, statusMoves, versionMoves } from "./conversion-moves.ts";
import {
  AGE,
  bounded,
  CATEGORIES,
  CLUSTER,
  CONTRACT_LABELS,
  clusterName,
  deletionOrder,
  failure,
  GROUP,
  immutable,
  integerColumn,
  machineNaming,
  number,
  OldConditions,
  observedGeneration,
  PAUSED,
  SCALE,
  selector,
  stringColumn,
  templateMetadata,
  versions,
} from "./fields.ts";
import { losslessConversion } from "./lossless-conversion.ts";
import { machineSpec, machineSpecV1beta1 } from "./machine-fields.ts";

const replicas = z.int32().default(1).describe("How many Machines are wanted.");
const counted = {
  replicas: number("Machines that exist."),
  readyReplicas: number("Machines that are Ready."),
  availableReplicas: number("Machines that are Available."),
};
const status = { selector: bounded(4096, "Label selector of the Machines."), versions, observedGeneration };
const selected = selector.describe("Which Machines belong to the set.");

const common = {
  group: GROUP,
  kind: "MachineSet",
  plural: "machinesets",
  namespaced: true,
  shortNames: ["ms"],
  categories: CATEGORIES,
  labels: CONTRACT_LABELS,
  description: "A number of equal Machines (Cluster API).",
  scale: SCALE,
};
const CLUSTER_IS_FIXED = immutable("spec.clusterName");
const SAME_CLUSTER = {
  path: "spec",
  rule: "!has(self.template) || !has(self.template.spec) || self.template.spec.clusterName == self.clusterName",
  message: "template.spec.clusterName must be equal to clusterName",
};
const version = stringColumn("Version", ".spec.template.spec.version");

/** A number of equal Machines (Cluster API, v1beta2). */
export const MachineSet = defineKind({
  ...common,
  version: "v1beta2",
  spec: z.object({
    clusterName,
    replicas,
    selector: selected,
    template: z.object({ metadata: templateMetadata, spec: machineSpec }).describe("What Machines are made of."),
    machineNaming,
    deletion: z.object({ order: deletionOrder }).optional().describe("How Machines are chosen for deletion."),
  }),
  status: z.object({
    conditions: Conditions.optional(),
    ...counted,
    upToDateReplicas: number("Machines that are up to date."),
    ...status,
    deprecated: deprecatedCounters(
      ["readyReplicas", "availableReplicas", "fullyLabeledReplicas"],
      ["failureReason", "failureMessage"],
    ),
  }),
  columns: [
    CLUSTER,
    integerColumn("Desired", ".spec.replicas"),
    integerColumn("Current", ".status.replicas"),
    integerColumn("Ready", ".status.readyReplicas"),
    integerColumn("Available", ".status.availableReplicas"),
    integerColumn("Up-to-date", ".status.upToDateReplicas"),
    PAUSED,
    AGE,
    version,
  ],
  rules: [CLUSTER_IS_FIXED, SAME_CLUSTER, immutable("spec.selector")],
});
export type MachineSet = Of<typeof MachineSet>;
export type MachineSetStatus = NonNullable<MachineSet["status"]>;

/** The same as v1beta1 has it. */
export const MachineSetV1beta1 = defineKind({
  ...common,
  version: "v1beta1",
  spec: z.object({
    clusterName,
    replicas,
    minReadySeconds: number("How long a Machine must be Ready to count as available."),
    deletePolicy: deletionOrder,
    selector: selected,
    template: z
      .object({ metadata: templateMetadata, spec: machineSpecV1beta1.optional() })
      .optional()
      .describe("What Machines are made of."),
    machineNamingStrategy: machineNaming,
  }),
  status: z.object({
    conditions: OldConditions.optional(),
    ...counted,
    fullyLabeledReplicas: number("Machines with all labels of the template."),
    ...failure,
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
    integerColumn("Available", ".status.availableReplicas"),
    AGE,
    version,
  ],
  rules: [CLUSTER_IS_FIXED],
  conversion: losslessConversion({
    moves: [
      ["spec.minReadySeconds", "spec.template.spec.minReadySeconds"],
      ["spec.deletePolicy", "spec.deletion.order"],
      ["spec.machineNamingStrategy", "spec.machineNaming"],
      ...machineMoves("spec.template.spec"),
      ...statusMoves("failureReason", "failureMessage", "readyReplicas", "availableReplicas", "fullyLabeledReplicas"),
      ...versionMoves("readyReplicas", "availableReplicas", "upToDateReplicas"),
    ],
    neverEmpty: [
      "spec.deletion",
      "spec.machineNaming",
      "spec.template.metadata",
      "spec.template.spec.deletion",
      "spec.template.spec.readinessGates",
      "spec.template.spec.taints",
    ],
    zeroIsUnset: ["spec.deletion.order"],
  }),
});
