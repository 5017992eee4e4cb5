import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { flag, moment, text } from "../optional.ts";
import { deprecated, machineMoves, nodeReference, statusMoves, versionMoves } from "./conversion-moves.ts";
import {
  AGE,
  atomicReference,
  CATEGORIES,
  CLUSTER,
  CONTRACT_LABELS,
  conditionColumn,
  failure,
  GROUP,
  immutable,
  OldConditions,
  observedGeneration,
  PAUSED,
  stringColumn,
} from "./fields.ts";
import { losslessConversion } from "./lossless-conversion.ts";
import { machineSpec, machineSpecV1beta1 } from "./machine-fields.ts";

const addresses = z
  .array(
    z.object({
      type: z.enum(["Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS"]),
      address: z.string().min(1).max(256),
    }),
  )
  .max(256)
  .optional()
  .describe("Addresses of the machine, as its provider reports them.")
  .meta({ "x-kubernetes-list-type": "atomic" });
const lastUpdated = moment("When the phase changed.");
const certificatesExpiryDate = moment("When certificates on the machine expire.");
const phase = z
  .enum(["Pending", "Provisioning", "Provisioned", "Running", "Updating", "Deleting", "Deleted", "Failed", "Unknown"])
  .optional()
  .describe("How far the machine is.");
const nodeInfo = z
  .object({
    architecture: z.string(),
    bootID: z.string(),
    containerRuntimeVersion: z.string(),
    kernelVersion: z.string(),
    kubeProxyVersion: z.string(),
    kubeletVersion: z.string(),
    machineID: z.string(),
    operatingSystem: z.string(),
    osImage: z.string(),
    systemUUID: z.string(),
    swap: z.object({ capacity: z.int().optional() }).optional(),
  })
  .partial()
  .optional()
  .describe("What the Node reports about its machine.");
const deletion = z
  .object({
    nodeDrainStartTime: moment("When draining began."),
    waitForNodeVolumeDetachStartTime: moment("When waiting for volumes began."),
    waitForPreDrainHookStartTime: moment("When waiting for pre-drain hooks began."),
    waitForPreTerminateHookStartTime: moment("When waiting for pre-terminate hooks began."),
  })
  .optional()
  .describe("How far deletion is.");

const common = {
  group: GROUP,
  kind: "Machine",
  plural: "machines",
  namespaced: true,
  shortNames: ["ma"],
  categories: CATEGORIES,
  labels: CONTRACT_LABELS,
  description: "A machine that becomes a Node of a workload cluster (Cluster API).",
};
const CLUSTER_IS_FIXED = immutable("spec.clusterName");

/** A machine of a workload cluster (Cluster API, v1beta2). */
export const Machine = defineKind({
  ...common,
  version: "v1beta2",
  spec: machineSpec,
  status: z.object({
    conditions: Conditions.optional(),
    initialization: z
      .object({
        infrastructureProvisioned: flag("Whether the provider has the machine. Once true, it stays."),
        bootstrapDataSecretCreated: flag("Whether the bootstrap data is there. Once true, it stays."),
      })
      .optional()
      .describe("What the first provisioning has reached."),
    nodeRef: z
      .object({ name: z.string().min(1).max(253) })
      .optional()
      .describe("Node of the machine."),
    nodeInfo,
    lastUpdated,
    addresses,
    failureDomain: text("Failure domain that the machine is in."),
    phase,
    certificatesExpiryDate,
    deletion,
    observedGeneration,
    deprecated: deprecated(failure),
  }),
  columns: [
    CLUSTER,
    stringColumn("Node Name", ".status.nodeRef.name"),
    stringColumn("Provider ID", ".spec.providerID", 10),
    stringColumn("Failure domain", ".status.failureDomain"),
    conditionColumn("Ready"),
    conditionColumn("Available"),
    conditionColumn("UpToDate", "Up-to-date"),
    stringColumn("Internal-IP", '.status.addresses[?(@.type=="InternalIP")].address', 10),
    stringColumn("External-IP", '.status.addresses[?(@.type=="ExternalIP")].address', 10),
    stringColumn("OS-Image", ".status.nodeInfo.osImage", 10),
    PAUSED,
    stringColumn("Phase", ".status.phase"),
    AGE,
    stringColumn("Version", ".spec.version"),
  ],
  rules: [
    CLUSTER_IS_FIXED,
    {
      path: "spec.bootstrap",
      rule: "has(self.configRef) || has(self.dataSecretName)",
      message: "one of configRef and dataSecretName must be given",
    },
  ],
});
export type Machine = Of<typeof Machine>;
export type MachineSpec = Machine["spec"];
export type MachineStatus = NonNullable<Machine["status"]>;

/** The same as v1beta1 has it. */
export const MachineV1beta1 = defineKind({
  ...common,
  version: "v1beta1",
  spec: machineSpecV1beta1,
  status: z.object({
    conditions: OldConditions.optional(),
    infrastructureReady: flag("Whether the provider has the machine."),
    bootstrapReady: flag("Whether the bootstrap data is there."),
    nodeRef: atomicReference.optional().describe("Node of the machine."),
    nodeInfo,
    lastUpdated,
    addresses,
    phase,
    certificatesExpiryDate,
    deletion,
    ...failure,
    observedGeneration,
    v1beta2: z.object({ conditions: Conditions.optional() }).optional().describe("What v1beta2 has."),
  }),
  columns: [
    CLUSTER,
    stringColumn("NodeName", ".status.nodeRef.name"),
    stringColumn("ProviderID", ".spec.providerID"),
    stringColumn("Phase", ".status.phase"),
    AGE,
    stringColumn("Version", ".spec.version"),
  ],
  rules: [CLUSTER_IS_FIXED],
  conversion: losslessConversion({
    moves: [
      ...machineMoves("spec"),
      [undefined, "spec.minReadySeconds"],
      ["status.infrastructureReady", "status.initialization.infrastructureProvisioned"],
      ["status.bootstrapReady", "status.initialization.bootstrapDataSecretCreated"],
      ["status.nodeRef", "status.nodeRef", nodeReference],
      [undefined, "status.failureDomain"],
      ...statusMoves("failureReason", "failureMessage"),
      ...versionMoves(),
    ],
    neverEmpty: ["status.initialization", "spec.deletion", "spec.readinessGates", "spec.taints"],
  }),
});
