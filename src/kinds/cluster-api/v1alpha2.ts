/**
 * Cluster and Machine as Cluster API had them in 2019: v1alpha2. Only conversion knows them; controllers see v1beta2. What a Machine has as inline
 * bootstrap data is kept for the core (`inlineData`), which moves it into a Secret.
 */
import { Fault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { z } from "zod";
import { defineKind, type Of, type VersionConversion } from "../kind.ts";
import { flag, moment, text } from "../optional.ts";
import { Cluster } from "./cluster.ts";
import { nodeReference, refs } from "./conversion-moves.ts";
import { at, place, take } from "./field-path.ts";
import { atomicReference, CATEGORIES, CONTRACT_LABELS, GROUP, number, stringColumn } from "./fields.ts";
import { type Lost, losslessConversion, lostFields, type Move, type ValueConversion } from "./lossless-conversion.ts";
import { Machine } from "./machine.ts";

/** On stored objects: what only v1alpha2 can say. */
export const V1ALPHA2_FIELDS = "slipway.dev/v1alpha2-fields";
const KEPT = { onStored: V1ALPHA2_FIELDS, onOther: "slipway.dev/v1beta2-fields-of-v1alpha2" };
const CLUSTER_NAME = "cluster.x-k8s.io/cluster-name";

/** `provisioning`, and `Provisioning` since v1alpha3. */
const phase: ValueConversion = {
  toStored: (value) => String(value).replace(/^[a-z]/, (first) => first.toUpperCase()),
  fromStored: (value) => String(value).replace(/^[A-Z]/, (first) => first.toLowerCase()),
};
const phaseField = z
  .string()
  .optional()
  .describe("How far it is: pending, provisioning, provisioned, running, deleting or failed.");
const errors = {
  errorReason: text("Why it will not come, in one word."),
  errorMessage: text("Why it will not come, in words."),
};
const errorMoves: Move[] = [
  ["status.errorReason", "status.deprecated.v1beta1.failureReason"],
  ["status.errorMessage", "status.deprecated.v1beta1.failureMessage"],
  [undefined, "status.deprecated.v1beta1.conditions"],
];

const cidrs = z.object({ cidrBlocks: z.array(z.string()).describe("Ranges of addresses.") }).optional();
const common = { group: GROUP, version: "v1alpha2", namespaced: true, categories: CATEGORIES, labels: CONTRACT_LABELS };

/** A workload cluster, v1alpha2. */
export const ClusterV1alpha2 = defineKind({
  ...common,
  ...{ kind: "Cluster", plural: "clusters", shortNames: Cluster.shortNames, description: Cluster.description },
  spec: z.object({
    clusterNetwork: z
      .object({
        apiServerPort: number("Port that the API server listens on."),
        services: cidrs.describe("Addresses of Services."),
        pods: cidrs.describe("Addresses of Pods."),
        serviceDomain: text("Domain of Services."),
      })
      .optional()
      .describe("Network of the workload cluster."),
    infrastructureRef: atomicReference.optional().describe("Object that provides the cluster's infrastructure."),
  }),
  status: z.object({
    apiEndpoints: z
      .array(z.object({ host: z.string(), port: z.int32() }))
      .optional()
      .describe("Where the API of the workload cluster is reached."),
    ...errors,
    phase: phaseField,
    infrastructureReady: flag("Whether the infrastructure is there."),
    controlPlaneInitialized: flag("Whether the control plane answered once."),
  }),
  columns: [stringColumn("Phase", ".status.phase")],
  conversion: losslessConversion({
    kept: KEPT,
    moves: [
      ...refs("spec.infrastructureRef"),
      ...["paused", "controlPlaneRef", "topology", "availabilityGates"].map(
        (name): Move => [undefined, `spec.${name}`],
      ),
      [
        "status.apiEndpoints",
        "spec.controlPlaneEndpoint",
        { toStored: (list) => (list as object[])[0], fromStored: (endpoint) => [endpoint] },
      ],
      ["status.phase", "status.phase", phase],
      ["status.infrastructureReady", "status.initialization.infrastructureProvisioned"],
      ["status.controlPlaneInitialized", "status.initialization.controlPlaneInitialized"],
      ...errorMoves,
      ...["conditions", "controlPlane", "workers", "failureDomains", "observedGeneration"].map(
        (name): Move => [undefined, `status.${name}`],
      ),
    ],
    last: {
      toStored() {},
      // An endpoint of which a part is missing is none.
      fromStored(made) {
        const [endpoint] = (at(made, "status.apiEndpoints") ?? []) as { host?: string; port?: number }[];
        if (endpoint !== undefined && (endpoint.host === undefined || endpoint.port === undefined))
          take(made, "status.apiEndpoints");
      },
    },
    neverEmpty: ["status.initialization"],
  }),
});

/** Name of the Secret that a Machine's inline bootstrap data becomes. */
export const inlineSecretName = (machine: string): string => `${machine}-inline-bootstrap-data`;

const machineConversion = losslessConversion({
  kept: KEPT,
  moves: [
    ...refs("spec.infrastructureRef", "spec.bootstrap.configRef"),
    ["spec.metadata", undefined],
    ...["failureDomain", "minReadySeconds", "readinessGates", "deletion", "taints"].map(
      (name): Move => [undefined, `spec.${name}`],
    ),
    ["status.version", undefined],
    ["status.nodeRef", "status.nodeRef", nodeReference],
    ["status.phase", "status.phase", phase],
    ["status.infrastructureReady", "status.initialization.infrastructureProvisioned"],
    ["status.bootstrapReady", "status.initialization.bootstrapDataSecretCreated"],
    ...errorMoves,
    ...["conditions", "nodeInfo", "failureDomain", "certificatesExpiryDate", "deletion", "observedGeneration"].map(
      (name): Move => [undefined, `status.${name}`],
    ),
  ],
  neverEmpty: ["status.initialization"],
  last: {
    toStored(made) {
      const name = made.metadata.labels?.[CLUSTER_NAME];
      if (name !== undefined) place(made, "spec.clusterName", name);
      const data = take(made, "spec.bootstrap.data");
      if (data === undefined) return;
      place(made, "spec.bootstrap.dataSecretName", data === "" ? "" : inlineSecretName(made.metadata.name));
    },
    fromStored(made) {
      take(made, "spec.clusterName");
      if (take(made, "spec.bootstrap.dataSecretName") === "") place(made, "spec.bootstrap.data", "");
    },
  },
});

/** A Machine says by its label which Cluster it belongs to: without one there is nothing that it could become. */
const demandingCluster = ({ toStored, fromStored }: VersionConversion): VersionConversion => ({
  fromStored,
  toStored(object) {
    const made = toStored(object) as KubeObject & { spec?: { clusterName?: string } };
    if (made.spec?.clusterName) return made;
    throw new Fault("Invalid", `Machine/${object.metadata.name}`, `the label ${CLUSTER_NAME} is missing`, {
      remedy: "add it with the name of the Machine's Cluster",
    });
  },
});

/** A machine of a workload cluster, v1alpha2. */
export const MachineV1alpha2 = defineKind({
  ...common,
  ...{ kind: "Machine", plural: "machines", shortNames: Machine.shortNames, description: Machine.description },
  spec: z.object({
    metadata: z
      .object({
        name: text("Name."),
        generateName: text("Prefix of the name."),
        namespace: text("Namespace."),
        labels: z.record(z.string(), z.string()).optional().describe("Labels."),
        annotations: z.record(z.string(), z.string()).optional().describe("Annotations."),
      })
      .optional()
      .describe("Metadata of a template. Without effect."),
    bootstrap: z
      .object({
        configRef: atomicReference.optional().describe("Object that makes the bootstrap data."),
        data: text("The bootstrap data. Moved into a Secret, and not shown any more. Empty: the provider makes them."),
      })
      .describe("Where the bootstrap data comes from."),
    infrastructureRef: atomicReference.describe("Object that provides the machine."),
    version: text("Kubernetes version, such as v1.36.1."),
    providerID: text("Id of the machine at its provider. Equal to the providerID of its Node."),
  }),
  status: z.object({
    nodeRef: atomicReference.optional().describe("Node of the machine."),
    lastUpdated: moment("When the phase changed."),
    version: text("Version that the machine runs."),
    ...errors,
    addresses: z
      .array(z.object({ type: z.string(), address: z.string() }))
      .optional()
      .describe("Addresses of the machine."),
    phase: phaseField,
    bootstrapReady: flag("Whether the bootstrap data is there."),
    infrastructureReady: flag("Whether the provider has the machine."),
  }),
  columns: [
    stringColumn("ProviderID", ".spec.providerID"),
    stringColumn("Phase", ".status.phase"),
    stringColumn("NodeName", ".status.nodeRef.name", 1),
    // As in 2019: no age but in the wide table.
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", priority: 1 },
  ],
  conversion: demandingCluster(machineConversion),
});
export type MachineV1alpha2 = Of<typeof MachineV1alpha2>;

const INLINE = ["spec", "bootstrap", "data"].join(".");
const isInline = ({ at: path }: Lost): boolean => path.join(".") === INLINE;

/** Inline bootstrap data of a stored Machine that no Secret has yet. */
export function inlineData({ metadata }: KubeObject): string | undefined {
  const data = lostFields(metadata.annotations?.[V1ALPHA2_FIELDS]).find(isInline)?.is;
  return typeof data === "string" && data !== "" ? data : undefined;
}

/** The annotation without them; null: nothing is left of it. */
export function withoutInlineData({ metadata }: KubeObject): string | null {
  const rest = lostFields(metadata.annotations?.[V1ALPHA2_FIELDS]).filter((entry) => !isInline(entry));
  return rest.length === 0 ? null : JSON.stringify(rest);
}
