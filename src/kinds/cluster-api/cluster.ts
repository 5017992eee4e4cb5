import { z } from "zod";
import { Conditions } from "../condition.ts";
import { defineKind, type Of } from "../kind.ts";
import { flag } from "../optional.ts";
import { deprecated, refs, statusMoves, versionMoves } from "./conversion-moves.ts";
import {
  AGE,
  atomicReference,
  bounded,
  CATEGORIES,
  CONTRACT_LABELS,
  conditionColumn,
  contractReference,
  failure,
  GROUP,
  gates,
  integerColumn,
  number,
  OldConditions,
  observedGeneration,
  PAUSED,
  stringColumn,
  versions,
} from "./fields.ts";
import { losslessConversion } from "./lossless-conversion.ts";

const cidrs = z
  .object({ cidrBlocks: z.array(z.string().min(1).max(43)).max(100).describe("Ranges of addresses.") })
  .optional();
const clusterNetwork = z
  .object({
    apiServerPort: number("Port that the API server listens on."),
    pods: cidrs.describe("Addresses of Pods."),
    services: cidrs.describe("Addresses of Services."),
    serviceDomain: bounded(253, "Domain of Services."),
  })
  .optional()
  .describe("Network of the workload cluster.");
const controlPlaneEndpoint = z
  .object({ host: z.string().max(512).optional().describe("Host name or address."), port: number("Port.") })
  .optional()
  .describe("Where the API of the workload cluster is reached.");
const paused = flag("Whether controllers leave the cluster and all that belongs to it alone.");
const topology = z
  .looseObject({})
  .optional()
  .describe("ClusterClass of the cluster. Upstream's Cluster API serves it, Slipway's does not.");
const availabilityGates = gates("Conditions of the Cluster that count towards Available.");
const phase = z
  .enum(["Pending", "Provisioning", "Provisioned", "Deleting", "Failed", "Unknown"])
  .optional()
  .describe("How far the cluster is.");

const replicas = z
  .object({
    desiredReplicas: number("Machines that are wanted."),
    replicas: number("Machines that exist."),
    readyReplicas: number("Machines that are Ready."),
    availableReplicas: number("Machines that are Available."),
    upToDateReplicas: number("Machines that are up to date."),
    versions,
    upgradePlan: z
      .array(z.object({ version: z.string() }))
      .optional()
      .describe("Versions to go through."),
  })
  .optional();

const NO_TOPOLOGY = {
  path: "spec",
  rule: "!has(self.topology)",
  message:
    "spec.topology: ClusterClass is served by upstream's Cluster API only; install it with clusterctl, or describe the cluster by controlPlaneRef and infrastructureRef",
};
const common = {
  group: GROUP,
  kind: "Cluster",
  plural: "clusters",
  namespaced: true,
  shortNames: ["cl"],
  categories: CATEGORIES,
  labels: CONTRACT_LABELS,
  description: "A Kubernetes cluster that runs on machines of a provider (Cluster API).",
};

/** A workload cluster (Cluster API, v1beta2). */
export const Cluster = defineKind({
  ...common,
  version: "v1beta2",
  spec: z.object({
    paused,
    clusterNetwork,
    controlPlaneEndpoint,
    controlPlaneRef: contractReference.optional().describe("Object that runs the control plane."),
    infrastructureRef: contractReference.optional().describe("Object that provides the cluster's infrastructure."),
    topology,
    availabilityGates,
  }),
  status: z.object({
    conditions: Conditions.optional(),
    initialization: z
      .object({
        infrastructureProvisioned: flag("Whether the infrastructure is there. Once true, it stays."),
        controlPlaneInitialized: flag("Whether the control plane answered once. Once true, it stays."),
      })
      .optional()
      .describe("What the first provisioning has reached."),
    controlPlane: replicas.describe("Machines of the control plane, counted."),
    workers: replicas.describe("Workers, counted."),
    failureDomains: z
      .array(
        z.object({
          name: z.string().min(1).max(256),
          controlPlane: z.boolean().optional(),
          attributes: z.record(z.string(), z.string()).optional(),
        }),
      )
      .max(100)
      .optional()
      .describe("Failure domains that the infrastructure has.")
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] }),
    phase,
    observedGeneration,
    deprecated: deprecated(failure),
  }),
  columns: [
    stringColumn("ClusterClass", ".spec.topology.classRef.name"),
    conditionColumn("Available"),
    integerColumn("CP Desired", ".status.controlPlane.desiredReplicas"),
    integerColumn("CP Current", ".status.controlPlane.replicas", 10),
    integerColumn("CP Ready", ".status.controlPlane.readyReplicas", 10),
    integerColumn("CP Available", ".status.controlPlane.availableReplicas"),
    integerColumn("CP Up-to-date", ".status.controlPlane.upToDateReplicas"),
    integerColumn("W Desired", ".status.workers.desiredReplicas"),
    integerColumn("W Current", ".status.workers.replicas", 10),
    integerColumn("W Ready", ".status.workers.readyReplicas", 10),
    integerColumn("W Available", ".status.workers.availableReplicas"),
    integerColumn("W Up-to-date", ".status.workers.upToDateReplicas"),
    PAUSED,
    stringColumn("Phase", ".status.phase"),
    AGE,
    stringColumn("Version", ".spec.topology.version"),
  ],
  rules: [
    NO_TOPOLOGY,
    {
      path: "spec",
      rule: "has(self.controlPlaneRef) || has(self.infrastructureRef) || has(self.topology)",
      message: "one of controlPlaneRef and infrastructureRef must be given",
    },
    {
      path: "spec",
      rule: "!has(oldSelf.controlPlaneRef) || has(self.controlPlaneRef)",
      message: "controlPlaneRef cannot be removed",
    },
    {
      path: "spec",
      rule: "!has(oldSelf.infrastructureRef) || has(self.infrastructureRef)",
      message: "infrastructureRef cannot be removed",
    },
    {
      path: "",
      rule: "oldSelf.hasValue() || size(self.metadata.name) <= 63",
      message: "the name is longer than 63 characters and can't become a label",
      optionalOldSelf: true,
    },
  ],
});
export type Cluster = Of<typeof Cluster>;
export type ClusterStatus = NonNullable<Cluster["status"]>;

type Domain = { name: string };

/** The same as v1beta1 has it. */
export const ClusterV1beta1 = defineKind({
  ...common,
  version: "v1beta1",
  spec: z.object({
    paused,
    clusterNetwork,
    controlPlaneEndpoint,
    controlPlaneRef: atomicReference.optional().describe("Object that runs the control plane."),
    infrastructureRef: atomicReference.optional().describe("Object that provides the cluster's infrastructure."),
    topology,
    availabilityGates,
  }),
  status: z.object({
    conditions: OldConditions.optional(),
    infrastructureReady: flag("Whether the infrastructure is there."),
    controlPlaneReady: flag("Whether the control plane is ready."),
    failureDomains: z
      .record(
        z.string(),
        z.object({
          controlPlane: z.boolean().optional(),
          attributes: z.record(z.string(), z.string()).optional(),
        }),
      )
      .optional()
      .describe("Failure domains that the infrastructure has."),
    ...failure,
    phase,
    observedGeneration,
    v1beta2: z
      .object({ conditions: Conditions.optional(), controlPlane: replicas, workers: replicas })
      .optional()
      .describe("What v1beta2 has."),
  }),
  columns: [
    stringColumn("ClusterClass", ".spec.topology.class"),
    stringColumn("Phase", ".status.phase"),
    AGE,
    stringColumn("Version", ".spec.topology.version"),
  ],
  rules: [NO_TOPOLOGY],
  conversion: losslessConversion({
    moves: [
      ...refs("spec.controlPlaneRef", "spec.infrastructureRef"),
      ["status.infrastructureReady", "status.initialization.infrastructureProvisioned"],
      ["status.controlPlaneReady", undefined],
      [undefined, "status.initialization.controlPlaneInitialized"],
      ...statusMoves("failureReason", "failureMessage"),
      ...versionMoves("controlPlane", "workers"),
      [
        "status.failureDomains",
        "status.failureDomains",
        {
          toStored: (map) => Object.entries(map as object).map(([name, of]) => ({ name, ...of })),
          fromStored: (list) => Object.fromEntries((list as Domain[]).map(({ name, ...of }) => [name, of])),
        },
      ],
      ["spec.topology.class", "spec.topology.classRef.name"],
    ],
    neverEmpty: ["spec.controlPlaneEndpoint", "spec.clusterNetwork", "spec.availabilityGates", "status.initialization"],
    zeroIsUnset: [
      "spec.controlPlaneEndpoint.host",
      "spec.controlPlaneEndpoint.port",
      "spec.clusterNetwork.apiServerPort",
    ],
  }),
});
