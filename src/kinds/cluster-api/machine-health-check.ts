import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { deprecated, duration, durationOf, secondsOf, statusMoves, versionMoves } from "./conversion-moves.ts";
import {
  AGE,
  atomicReference,
  CATEGORIES,
  CLUSTER,
  CONTRACT_LABELS,
  clusterName,
  conditionType,
  count,
  GROUP,
  immutable,
  integerColumn,
  OldConditions,
  observedGeneration,
  PAUSED,
  portion,
  selector,
  stringColumn,
  versionedReference,
} from "./fields.ts";
import { losslessConversion } from "./lossless-conversion.ts";

const selected = selector.describe("Which Machines are watched.");
const status = {
  expectedMachines: count("Machines that are watched."),
  currentHealthy: count("Machines that are healthy."),
  remediationsAllowed: count("How many more Machines may be remediated now."),
  observedGeneration,
  targets: z
    .array(z.string().min(1).max(253))
    .max(10000)
    .optional()
    .describe("Names of the Machines that are watched."),
};
const range = z
  .string()
  .max(32)
  .regex(/^\[[0-9]+-[0-9]+\]$/)
  .optional()
  .describe("Remediation happens only while the number of unhealthy Machines is in this range, such as [1-3].");
const limit = portion("Remediation happens only while no more Machines than this are unhealthy. Default: 100%.");
const machineStatus = z.enum(["True", "False", "Unknown"]).describe("Status that the condition must have.");
const anyStatus = z.string().min(1).describe("Status that the condition must have.");
const anyType = z.string().min(1).describe("Type of the condition.");
const type = conditionType.describe("Type of the condition.");
const timeoutSeconds = z.int32().min(0).describe("How long it must have been so.");
const timeout = z.string().describe("How long it must have been so, such as 5m.");
const reserved = (path: string) => ({
  path: `${path}[].type`,
  rule: "!(self in ['Ready','Available','HealthCheckSucceeded','OwnerRemediated','ExternallyRemediated'])",
  message: "type must not be one of: Ready, Available, HealthCheckSucceeded, OwnerRemediated, ExternallyRemediated",
});

const common = {
  group: GROUP,
  kind: "MachineHealthCheck",
  plural: "machinehealthchecks",
  namespaced: true,
  shortNames: ["mhc", "mhcs"],
  categories: CATEGORIES,
  labels: CONTRACT_LABELS,
  description: "Which Machines are unhealthy, and what is done with them (Cluster API).",
};
const CLUSTER_IS_FIXED = immutable("spec.clusterName");

/** Health of Machines (Cluster API, v1beta2). */
export const MachineHealthCheck = defineKind({
  ...common,
  version: "v1beta2",
  spec: z.object({
    clusterName,
    selector: selected,
    checks: z
      .object({
        nodeStartupTimeoutSeconds: count("How long a Machine may take to have a Node. 0: without limit. Default: 600."),
        unhealthyNodeConditions: z
          .array(z.object({ type: anyType, status: anyStatus, timeoutSeconds }))
          .max(100)
          .optional()
          .describe("Conditions of the Node that make a Machine unhealthy."),
        unhealthyMachineConditions: z
          .array(z.object({ type, status: machineStatus, timeoutSeconds }))
          .max(100)
          .optional()
          .describe("Conditions of the Machine that make it unhealthy."),
      })
      .optional()
      .describe("What makes a Machine unhealthy."),
    remediation: z
      .object({
        triggerIf: z
          .object({ unhealthyLessThanOrEqualTo: limit, unhealthyInRange: range })
          .optional()
          .describe("When remediation happens."),
        templateRef: versionedReference
          .optional()
          .describe(
            "Template of the object that asks an external controller for remediation. Empty: the owner deletes the Machine.",
          ),
      })
      .optional()
      .describe("What is done with unhealthy Machines."),
  }),
  status: z.object({
    conditions: Conditions.optional(),
    ...status,
    deprecated: deprecated({}),
  }),
  columns: [
    CLUSTER,
    integerColumn("Replicas", ".status.expectedMachines"),
    integerColumn("Healthy", ".status.currentHealthy"),
    PAUSED,
    AGE,
  ],
  rules: [CLUSTER_IS_FIXED, reserved("spec.checks.unhealthyMachineConditions")],
});
export type MachineHealthCheck = Of<typeof MachineHealthCheck>;
export type MachineHealthCheckStatus = NonNullable<MachineHealthCheck["status"]>;

const NAMING = new Set(["apiVersion", "kind", "name"]);
type Timed = { timeout?: unknown; timeoutSeconds?: unknown };
const inSeconds = {
  toStored: (list: unknown) =>
    (list as Timed[]).map(({ timeout: of, ...rest }) => ({ ...rest, timeoutSeconds: secondsOf(of) })),
  fromStored: (list: unknown) =>
    (list as Timed[]).map(({ timeoutSeconds: of, ...rest }) => ({ ...rest, timeout: durationOf(of) })),
};

/** The same as v1beta1 has it. */
export const MachineHealthCheckV1beta1 = defineKind({
  ...common,
  version: "v1beta1",
  spec: z.object({
    clusterName,
    selector: selected,
    nodeStartupTimeout: z.string().optional().describe("How long a Machine may take to have a Node, such as 10m."),
    unhealthyConditions: z
      .array(z.object({ type: anyType, status: anyStatus, timeout }))
      .max(100)
      .optional()
      .describe("Conditions of the Node that make a Machine unhealthy."),
    unhealthyMachineConditions: z
      .array(z.object({ type, status: machineStatus, timeout }))
      .max(100)
      .optional()
      .describe("Conditions of the Machine that make it unhealthy."),
    maxUnhealthy: limit,
    unhealthyRange: range,
    remediationTemplate: atomicReference
      .optional()
      .describe("Template of the object that asks an external controller for remediation."),
  }),
  status: z.object({
    conditions: OldConditions.optional(),
    ...status,
    v1beta2: z.object({ conditions: Conditions.optional() }).optional().describe("What v1beta2 has."),
  }),
  columns: [
    CLUSTER,
    integerColumn("ExpectedMachines", ".status.expectedMachines"),
    stringColumn("MaxUnhealthy", ".spec.maxUnhealthy"),
    integerColumn("CurrentHealthy", ".status.currentHealthy"),
    AGE,
  ],
  rules: [CLUSTER_IS_FIXED, reserved("spec.unhealthyMachineConditions")],
  conversion: losslessConversion({
    moves: [
      ["spec.nodeStartupTimeout", "spec.checks.nodeStartupTimeoutSeconds", duration],
      ["spec.unhealthyConditions", "spec.checks.unhealthyNodeConditions", inSeconds],
      ["spec.unhealthyMachineConditions", "spec.checks.unhealthyMachineConditions", inSeconds],
      ["spec.maxUnhealthy", "spec.remediation.triggerIf.unhealthyLessThanOrEqualTo"],
      ["spec.unhealthyRange", "spec.remediation.triggerIf.unhealthyInRange"],
      [
        "spec.remediationTemplate",
        "spec.remediation.templateRef",
        {
          toStored: (of) => Object.fromEntries(Object.entries(of as object).filter(([key]) => NAMING.has(key))),
          fromStored: (of) => of,
        },
      ],
      ...statusMoves(),
      ...versionMoves(),
    ],
    neverEmpty: [
      "spec.checks.unhealthyNodeConditions",
      "spec.checks.unhealthyMachineConditions",
      "spec.checks",
      "spec.remediation.triggerIf",
      "spec.remediation",
    ],
    zeroIsUnset: ["spec.remediation.triggerIf.unhealthyInRange"],
  }),
});
