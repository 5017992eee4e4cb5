import { type Answer, type Family, get, type Json, post, type Step, served, step } from "../step.ts";

const GROUP = "openapi.example.com";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const schema = {
  type: "object",
  description: "A thing.",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      description: "What is wanted.",
      required: ["name"],
      properties: {
        name: { type: "string", minLength: 1, maxLength: 10, pattern: "^[a-z]+$" },
        size: { type: "integer", format: "int32", minimum: 1, maximum: 9, default: 3 },
        share: { type: "number", exclusiveMinimum: true, minimum: 0, multipleOf: 0.5 },
        kind: { type: "string", enum: ["a", "b"] },
        maybe: { type: "string", nullable: true },
        port: { "x-kubernetes-int-or-string": true },
        open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        labels: { type: "object", additionalProperties: { type: "string" } },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set", maxItems: 5 },
        parts: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["id"],
          items: { type: "object", required: ["id"], properties: { id: { type: "string" }, n: { type: "integer" } } },
        },
        either: {
          type: "object",
          oneOf: [{ required: ["a"] }, { required: ["b"] }],
          properties: { a: { type: "string" }, b: { type: "string" } },
        },
        template: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
        when: { type: "string", format: "date-time" },
        atom: { type: "object", "x-kubernetes-map-type": "atomic", properties: { x: { type: "string" } } },
        ruled: { type: "integer", "x-kubernetes-validations": [{ rule: "self > 0", message: "must be positive" }] },
      },
    },
    status: { type: "object", properties: { n: { type: "integer" } } },
  },
};
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `things.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [
      { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } },
      {
        name: "v2",
        served: true,
        storage: false,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

/** The schemas of the family's own kinds, as each version of OpenAPI has them. */
const own = (answer: Answer): Answer => {
  const all: Json = answer.body.components?.schemas ?? answer.body.definitions ?? {};
  const wanted = Object.entries(all).filter(([name]) => name.startsWith("com.example.openapi."));
  return { ...answer, headers: {}, body: Object.fromEntries(wanted) };
};
/** Names, types, lists, merge keys and required fields of built-in kinds: what clients decide by, descriptions left out. */
const TOLD = [
  "type",
  "format",
  "required",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-patch-strategy",
  "x-kubernetes-patch-merge-key",
  "x-kubernetes-group-version-kind",
];
const shape = (schemas: Json, one: Json, depth = 0): Json => {
  const ref = one.$ref ?? one.allOf?.[0]?.$ref;
  if (ref !== undefined) {
    const { "x-kubernetes-group-version-kind": _, ...told } = shape(
      schemas,
      schemas[ref.split("/").pop()!] ?? {},
      depth,
    );
    return { ...told, ...pick(one) };
  }
  if (depth > 12) return {};
  return {
    ...pick(one),
    ...(one.properties && {
      properties: Object.fromEntries(
        Object.entries(one.properties).map(([name, child]) => [name, shape(schemas, child, depth + 1)]),
      ),
    }),
    ...(one.items && { items: shape(schemas, one.items, depth + 1) }),
    ...(typeof one.additionalProperties === "object" && {
      additionalProperties: shape(schemas, one.additionalProperties, depth + 1),
    }),
  };
};
const pick = (one: Json): Json => Object.fromEntries(TOLD.flatMap((word) => (word in one ? [[word, one[word]]] : [])));
const ofKind =
  (definitionName: string) =>
  (answer: Answer): Answer => {
    const schemas = answer.body.components?.schemas ?? {};
    return { ...answer, headers: {}, body: shape(schemas, schemas[definitionName] ?? {}) };
  };

const KINDS: [string, string][] = [
  ["api/v1", "io.k8s.api.core.v1.ConfigMap"],
  ["api/v1", "io.k8s.api.core.v1.Secret"],
  ["api/v1", "io.k8s.api.core.v1.Namespace"],
  ["api/v1", "io.k8s.api.core.v1.ServiceAccount"],
  ["api/v1", "io.k8s.api.core.v1.Service"],
  ["api/v1", "io.k8s.api.core.v1.Node"],
  ["api/v1", "io.k8s.api.core.v1.Event"],
  ["api/v1", "io.k8s.api.core.v1.Endpoints"],
  ["apis/apps/v1", "io.k8s.api.apps.v1.ControllerRevision"],
  ["apis/coordination.k8s.io/v1", "io.k8s.api.coordination.v1.Lease"],
  ["apis/rbac.authorization.k8s.io/v1", "io.k8s.api.rbac.v1.Role"],
  ["apis/rbac.authorization.k8s.io/v1", "io.k8s.api.rbac.v1.ClusterRole"],
  ["apis/rbac.authorization.k8s.io/v1", "io.k8s.api.rbac.v1.RoleBinding"],
  ["apis/policy/v1", "io.k8s.api.policy.v1.PodDisruptionBudget"],
  ["apis/scheduling.k8s.io/v1", "io.k8s.api.scheduling.v1.PriorityClass"],
  ["apis/discovery.k8s.io/v1", "io.k8s.api.discovery.v1.EndpointSlice"],
];
const ready: Step = step(get(`/openapi/v3/apis/${GROUP}/v1`), {
  unseen: true,
  until: ({ body }) => body.components?.schemas?.["com.example.openapi.v1.Thing"] !== undefined,
});

const family: Family = {
  name: "openapi",
  steps: [
    step(post(DEFINITIONS, definition), { unseen: true }),
    ...served(`things.${GROUP}`, "v2"),
    ready,
    step(get("/openapi/v2"), {
      unseen: true,
      until: ({ body }) => body.definitions?.["com.example.openapi.v1.Thing"] !== undefined,
    }),
    step(get(`/openapi/v3/apis/${GROUP}/v1`), { only: own }),
    step(get(`/openapi/v3/apis/${GROUP}/v2`), { only: own }),
    step(get("/openapi/v2"), { only: own }),
    ...["/openapi/v2", "/openapi/v3", `/openapi/v3/apis/${GROUP}/v1`, "/openapi/v3/api/v1"].flatMap((path) =>
      ["application/json", "*/*", "text/plain", "application/yaml"].map((accept) =>
        step(get(path, undefined, { accept }), { only: (answer) => ({ ...answer, body: typeof answer.body }) }),
      ),
    ),
    step(get("/openapi/v3/apis/nowhere.example.com/v1")),
    step(get("/openapi/v2/nowhere")),
    ...KINDS.map(([document, name]) => step(get(`/openapi/v3/${document}`, { of: name }), { only: ofKind(name) })),
  ],
};
export default family;
