/**
 * Fields that the kinds of Cluster API share. Spellings, enums and bounds are Cluster API's (cluster.x-k8s.io), so that its manifests and clients
 * fit; where its definitions demand that an empty object is left out, ours take it too.
 */
import { z } from "zod";
import { objectReference } from "../object-reference.ts";
import { text } from "../optional.ts";

export const GROUP = "cluster.x-k8s.io";
export const CATEGORIES = ["cluster-api"];
/** What a definition of Cluster API bears: which of its versions follows which contract, and that clusterctl moves its objects. */
export const CONTRACT_LABELS: Readonly<Record<string, string>> = {
  "cluster.x-k8s.io/provider": "cluster-api",
  "cluster.x-k8s.io/v1beta1": "v1beta1",
  "cluster.x-k8s.io/v1beta2": "v1beta2",
  "clusterctl.cluster.x-k8s.io": "",
};

/** Optional text of a bounded length. */
export const bounded = (max: number, about: string, min = 1) => z.string().min(min).max(max).optional().describe(about);
/** Optional 32-bit number that is not negative. */
export const count = (about: string) => z.int32().min(0).optional().describe(about);
/** Optional 32-bit number. */
export const number = (about: string) => z.int32().optional().describe(about);
/** Optional number or percentage. */
export const portion = (about: string) => z.union([z.int32(), z.string()]).optional().describe(about);

export const clusterName = z
  .string()
  .min(1)
  .max(63)
  .describe("Name of the Cluster that this belongs to, in the same namespace.");

const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const KIND_NAME = /^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$/;
const CONDITION_TYPE =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/;

const kindName = z.string().min(1).max(63).regex(KIND_NAME).describe("Kind of the object.");
export const objectName = z.string().min(1).max(253).regex(DNS_NAME).describe("Name of the object.");

/** Reference to a provider's object in the same namespace; its version follows from the labels of its definition. */
export const contractReference = z.object({
  apiGroup: z.string().min(1).max(253).regex(DNS_NAME).describe("API group of the object."),
  kind: kindName,
  name: objectName,
});
export type ContractReference = z.output<typeof contractReference>;

/** Reference that still names a version: a template of remediation. */
export const versionedReference = z.object({
  apiVersion: z.string().min(1).max(317).describe("Group and version of the object."),
  kind: kindName,
  name: objectName,
});

/** `core/v1` ObjectReference, as v1beta1 has it. */
export const atomicReference = objectReference.meta({ "x-kubernetes-map-type": "atomic" });

/** Condition type, without those that a summary may not be made of. */
export const conditionType = z.string().min(1).max(316).regex(CONDITION_TYPE);

/** Why an object has failed for good, as v1beta1 has it. */
export const failure = {
  failureReason: z.string().optional(),
  failureMessage: z.string().max(10240).optional(),
};

/** Condition of the v1beta1 era, with a severity and without a generation. */
export const OldConditions = z
  .array(
    z.object({
      type: z.string().min(1).max(256),
      status: z.string(),
      severity: text("Error, Warning or Info where the status is False."),
      reason: z.string().max(256).optional(),
      message: z.string().max(10240).optional(),
      lastTransitionTime: z.string().meta({ format: "date-time" }),
    }),
  )
  .describe("Conditions as v1beta1 has them.");
export type OldCondition = z.output<typeof OldConditions>[number];

/** Conditions of other objects that count towards a summary. */
export const gates = (about: string) =>
  z
    .array(
      z.object({
        conditionType: conditionType.describe("Type of the condition."),
        polarity: z
          .enum(["Positive", "Negative"])
          .optional()
          .describe("Negative: the condition is good when it is False. Default: Positive."),
      }),
    )
    .max(32)
    .optional()
    .describe(about)
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["conditionType"] });

export const selector = z
  .object({
    matchLabels: z.record(z.string(), z.string()).optional().describe("Labels that an object must have."),
    matchExpressions: z
      .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
      .optional()
      .describe("Requirements on labels: In, NotIn, Exists, DoesNotExist."),
  })
  .meta({ "x-kubernetes-map-type": "atomic" });

export const templateMetadata = z
  .object({
    labels: z.record(z.string(), z.string()).optional().describe("Labels of what is made of the template."),
    annotations: z.record(z.string(), z.string()).optional().describe("Annotations of what is made of the template."),
  })
  .optional()
  .describe("Labels and annotations of what is made of the template.");

/** How many objects run each version. */
export const versions = z
  .array(
    z.object({
      version: z.string().min(1).max(256).describe("Kubernetes version."),
      replicas: z.int32().min(1).optional().describe("How many run it."),
    }),
  )
  .max(100)
  .optional()
  .describe("Kubernetes versions of the machines.");

export const observedGeneration = z
  .int()
  .optional()
  .describe("Generation of the specification that the status is about.");
export const deletionOrder = z
  .enum(["Random", "Newest", "Oldest"])
  .optional()
  .describe("Which Machines go first when there are too many.");
export const machineNaming = z
  .object({
    template: bounded(256, "Template of the names of Machines, with {{ .machineSet.name }} and {{ .random }}."),
  })
  .optional()
  .describe("How Machines are named.");

/** Scale subresource of sets and deployments. */
export const SCALE = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".status.selector",
};

/** Column with the status of a condition. */
export const conditionColumn = (type: string, name = type, priority?: number) =>
  ({
    name,
    type: "string",
    jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
    ...(priority !== undefined && { priority }),
  }) as const;
export const AGE = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" } as const;
export const PAUSED = conditionColumn("Paused", "Paused", 10);
export const CLUSTER = { name: "Cluster", type: "string", jsonPath: ".spec.clusterName" } as const;
/** A printer column with a number. A priority above 0 shows it with `-o wide` alone. */
export const integerColumn = (name: string, jsonPath: string, priority?: number) =>
  ({ name, type: "integer", jsonPath, ...(priority !== undefined && { priority }) }) as const;
/** A printer column with a text. A priority above 0 shows it with `-o wide` alone. */
export const stringColumn = (name: string, jsonPath: string, priority?: number) =>
  ({ name, type: "string", jsonPath, ...(priority !== undefined && { priority }) }) as const;

/** A rule that a field keeps its first value. */
export const immutable = (path: string) => ({ path, rule: "self == oldSelf", message: "is immutable" });
