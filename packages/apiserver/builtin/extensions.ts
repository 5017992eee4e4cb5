import { dnsLabel } from "@slipway/cel/formats";
import { configurationErrors } from "../admission/configuration-rules.ts";
import { type Body, type FieldError, METADATA_FIELDS, type ServedResource } from "../served.ts";
import { forbiddenField, immutableField } from "./field-errors.ts";
import { at, objectsAt, textAt } from "./read.ts";
import {
  about,
  anyObject,
  bool,
  bytes,
  conditions,
  fields,
  int32,
  int64,
  keyed,
  labelSelector,
  listOf,
  oneOf,
  text,
  texts,
  withDefault,
} from "./schema-words.ts";
import { age, column, createdAt, serve } from "./serve.ts";
import { oneOfField, requiredName } from "./value-rules.ts";

const serviceReference = fields({ "namespace!": text, "name!": text, path: text, port: int32 });

const names = fields({
  "plural!": text,
  singular: text,
  shortNames: texts,
  "kind!": text,
  listKind: text,
  categories: texts,
});

const printedColumn = fields({
  "name!": text,
  "type!": text,
  format: text,
  description: text,
  priority: int32,
  "jsonPath!": text,
});

const version = fields({
  "name!": about("v1, v1beta1, …", text),
  "served!": about("Whether the API offers it.", bool),
  "storage!": about("Whether objects are stored in it; exactly one is.", bool),
  deprecated: bool,
  deprecationWarning: text,
  schema: fields({ openAPIV3Schema: about("Structural OpenAPI v3 schema of the objects.", anyObject) }),
  subresources: fields({
    status: anyObject,
    scale: fields({ "specReplicasPath!": text, "statusReplicasPath!": text, labelSelectorPath: text }),
  }),
  additionalPrinterColumns: listOf(printedColumn),
  selectableFields: listOf(fields({ "jsonPath!": text })),
});

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
  members: {
    spec: fields({
      "group!": text,
      "names!": names,
      "scope!": oneOf("Cluster", "Namespaced"),
      "versions!": listOf(version),
      conversion: fields({
        "strategy!": text,
        webhook: fields({
          clientConfig: fields({ url: text, service: serviceReference, caBundle: bytes }),
          "conversionReviewVersions!": texts,
        }),
      }),
      preserveUnknownFields: bool,
    }),
    status: fields({
      conditions: conditions({ observedGeneration: int64 }),
      acceptedNames: names,
      storedVersions: texts,
      observedGeneration: int64,
    }),
  },
  required: ["spec"],
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
  members: {
    spec: fields({
      service: fields({ namespace: text, name: text, port: withDefault(int32, 443) }),
      group: text,
      version: text,
      insecureSkipTLSVerify: bool,
      caBundle: bytes,
      "groupPriorityMinimum!": int32,
      "versionPriority!": int32,
    }),
    status: fields({ conditions: conditions() }),
  },
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

/** What upstream's rules demand of these is said by them, in their words. */
const webhook = {
  name: text,
  clientConfig: fields({
    url: text,
    service: fields({ namespace: text, name: text, path: text, port: withDefault(int32, 443) }),
    caBundle: bytes,
  }),
  rules: listOf(
    fields({
      operations: texts,
      apiGroups: texts,
      apiVersions: texts,
      resources: texts,
      scope: withDefault(text, "*"),
    }),
  ),
  failurePolicy: withDefault(text, "Fail"),
  matchPolicy: withDefault(text, "Equivalent"),
  namespaceSelector: withDefault(labelSelector, {}),
  objectSelector: withDefault(labelSelector, {}),
  sideEffects: text,
  timeoutSeconds: withDefault(int32, 10),
  admissionReviewVersions: texts,
  matchConditions: keyed(fields({ name: text, expression: text }), "name"),
};

const webhookCount = column("Webhooks", (object) => objectsAt(object, "webhooks").length, { type: "integer" });

export const validatingWebhooks: ServedResource = serve({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  needsVersion: true,
  description: "Webhooks that may refuse a write.",
  categories: ["api-extensions"],
  namespaced: false,
  hasGeneration: true,
  members: { webhooks: keyed(fields(webhook), "name") },
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
  members: {
    webhooks: keyed(fields({ ...webhook, reinvocationPolicy: withDefault(text, "Never") }), "name"),
  },
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
  members: {
    handler: text,
    overhead: fields({ podFixed: anyObject }),
    scheduling: anyObject,
  },
  required: ["handler"],
  validate: (object, old) => [
    ...requiredName(object.handler, "handler", dnsLabel),
    ...(old === undefined || old.handler === object.handler ? [] : [immutableField("handler", object.handler)]),
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
  members: {
    value: int32,
    globalDefault: bool,
    description: text,
    preemptionPolicy: withDefault(text, "PreemptLowerPriority"),
  },
  required: ["value"],
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
    ...(!isSystem && old === undefined && Number(object.value) > MAX_PRIORITY ? [forbiddenField("value", why)] : []),
    ...oneOfField(object.preemptionPolicy, "preemptionPolicy", ["PreemptLowerPriority", "Never"]),
    ...fixed.map((field) => forbiddenField(field, "may not be changed in an update.")),
  ];
}
