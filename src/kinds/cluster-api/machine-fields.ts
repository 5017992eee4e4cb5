/** What Machines and the templates of Machines have in common, in both versions. */
import { z } from "zod";
import { atomicReference, bounded, clusterName, contractReference, count, gates } from "./fields.ts";

const dataSecretName = bounded(253, "Name of the Secret with the bootstrap data.", 0);
const version = bounded(256, "Kubernetes version, such as v1.36.1.");
const failureDomain = bounded(256, "Failure domain to place the machine in.");
const providerID = bounded(512, "Id of the machine at its provider. Equal to the providerID of its Node.");
const readinessGates = gates("Conditions of the Machine that count towards Ready.");
const taints = z
  .array(
    z.object({
      key: z.string().min(1).max(317).describe("Key of the taint."),
      value: bounded(63, "Value of the taint."),
      effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).describe("Effect of the taint."),
      propagation: z.enum(["Always", "OnInitialization"]).describe("When it is put on the Node."),
    }),
  )
  .max(64)
  .optional()
  .describe("Taints of the Node. They need upstream's feature gate MachineTaintPropagation.")
  .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key", "effect"] });

/** Specification of a Machine, v1beta2. */
export const machineSpec = z.object({
  clusterName,
  bootstrap: z
    .object({
      configRef: contractReference.optional().describe("Object that makes the bootstrap data."),
      dataSecretName,
    })
    .describe("Where the bootstrap data comes from."),
  infrastructureRef: contractReference.describe("Object that provides the machine."),
  version,
  providerID,
  failureDomain,
  minReadySeconds: count("How long a Machine must be Ready to count as available."),
  readinessGates,
  deletion: z
    .object({
      nodeDrainTimeoutSeconds: count("How long draining may take. 0 or empty: without limit."),
      nodeVolumeDetachTimeoutSeconds: count("How long volumes may take to be detached. 0 or empty: without limit."),
      nodeDeletionTimeoutSeconds: count("How long deleting the Node is tried. 0: without limit. Default: 10."),
    })
    .optional()
    .describe("What deletion waits for."),
  taints,
});

const duration = (about: string) => z.string().optional().describe(`${about} A duration such as 5m.`);

/** The same, v1beta1. */
export const machineSpecV1beta1 = z.object({
  clusterName,
  bootstrap: z
    .object({ configRef: atomicReference.optional().describe("Object that makes the bootstrap data."), dataSecretName })
    .describe("Where the bootstrap data comes from."),
  infrastructureRef: atomicReference.describe("Object that provides the machine."),
  version,
  providerID,
  failureDomain,
  readinessGates,
  nodeDrainTimeout: duration("How long draining may take."),
  nodeVolumeDetachTimeout: duration("How long volumes may take to be detached."),
  nodeDeletionTimeout: duration("How long deleting the Node is tried."),
  taints,
});
