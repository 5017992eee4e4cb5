import { dnsLabel } from "@slipway/cel/formats";
import { configurationErrors } from "../admission/configuration-rules.ts";
import { forbidden, immutable } from "../model/field-error.ts";
import { at, objectsAt, textAt } from "../model/read.ts";
import { type Body, type FieldError, METADATA_FIELDS, type ServedResource } from "../model/served.ts";
import { oneOfField, requiredName } from "../rules/value-rules.ts";
import { age, column, createdAt, serve } from "./serve.ts";

/** CustomResourceDefinitions: only their shape. Their rules and what they serve are the schema engine's. */
/** Holds a definition until its objects are gone. */
export const DEFINITION_CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

export const customResourceDefinition: ServedResource = serve({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  description: "A kind of objects that the API serves besides its own.",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  namespaced: false,
  status: true,
  statusKeeps: METADATA_FIELDS,
  hasGeneration: true,
  columns: [createdAt],
  definesKinds: true,
  deletion: {
    // The definition stays until its objects are gone; they would be unreachable without it.
    finalizer: DEFINITION_CLEANUP,
    counts: false,
    status: (status, now, already) => (already ? status : withTerminating(status, now)),
  },
});

/** The status of a definition that is to go once its objects are gone. */
function withTerminating(status: unknown, lastTransitionTime: string): unknown {
  const { conditions, ...rest } = (status ?? {}) as { conditions?: { type: string }[] | null };
  const terminating = {
    type: "Terminating",
    status: "True",
    lastTransitionTime,
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  };
  return { ...rest, conditions: [...(conditions ?? []).filter((c) => c.type !== "Terminating"), terminating] };
}

export const apiService: ServedResource = serve({
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  description: "One version of one API group, and who serves it.",
  categories: ["api-extensions"],
  namespaced: false,
  status: true,
  statusKeeps: METADATA_FIELDS,
  columns: [
    column("Service", (object) => {
      const name = textAt(object, "spec.service.name");
      return name === "" ? "Local" : `${textAt(object, "spec.service.namespace")}/${name}`;
    }),
    column("Available", (object) => {
      const available = objectsAt(object, "status.conditions").find((c) => c.type === "Available");
      if (available === undefined) return "Unknown";
      return available.status === "True" ? "True" : `${available.status} (${available.reason})`;
    }),
    age,
  ],
});

const webhookCount = column("Webhooks", (object) => objectsAt(object, "webhooks").length, { type: "integer" });

export const validatingWebhooks: ServedResource = serve({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  needsVersion: true,
  description: "Webhooks that may refuse a write.",
  categories: ["api-extensions"],
  namespaced: false,
  hasGeneration: true,
  columns: [webhookCount, age],
  validate: configurationErrors,
});

export const mutatingWebhooks: ServedResource = serve({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  needsVersion: true,
  description: "Webhooks that may change or refuse a write.",
  categories: ["api-extensions"],
  namespaced: false,
  hasGeneration: true,
  columns: [webhookCount, age],
  validate: configurationErrors,
});

export const runtimeClass: ServedResource = serve({
  apiVersion: "node.k8s.io/v1",
  kind: "RuntimeClass",
  createsOnUpdate: true,
  needsVersion: true,
  description: "A way in which a Node runs containers.",
  plural: "runtimeclasses",
  namespaced: false,
  validate: (object, old) => [
    ...requiredName(object.handler, "handler", dnsLabel),
    ...(old === undefined || old.handler === object.handler ? [] : [immutable("handler", object.handler)]),
  ],
  columns: [column("Handler", (object) => String(at(object, "handler") ?? "")), age],
});

export const priorityClass: ServedResource = serve({
  apiVersion: "scheduling.k8s.io/v1",
  kind: "PriorityClass",
  hasGeneration: true,
  description: "Importance of Pods, by name.",
  plural: "priorityclasses",
  shortNames: ["pc"],
  namespaced: false,
  validate: validatePriority,
  columns: [
    column("Value", (object) => Number(at(object, "value") ?? 0), { type: "integer" }),
    column("Global-Default", (object) => at(object, "globalDefault") === true, { type: "boolean" }),
    age,
    column("PreemptionPolicy", (object) => textAt(object, "preemptionPolicy")),
  ],
});

const MAX_PRIORITY = 1_000_000_000;

/** The highest priorities are the system's. */
function validatePriority(object: Body, old?: Body): FieldError[] {
  const isSystem = object.metadata.name.startsWith("system-");
  const why = `maximum allowed value of a user defined priority is ${MAX_PRIORITY}`;
  const fixed = ["value", "preemptionPolicy"].filter((field) => old !== undefined && old[field] !== object[field]);
  return [
    ...(!isSystem && old === undefined && Number(object.value) > MAX_PRIORITY ? [forbidden("value", why)] : []),
    ...oneOfField(object.preemptionPolicy, "preemptionPolicy", ["PreemptLowerPriority", "Never"]),
    ...fixed.map((field) => forbidden(field, "may not be changed in an update.")),
  ];
}
