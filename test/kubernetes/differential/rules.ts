import { DEFINITIONS, definition } from "./definitions.ts";
import { get, type Json, post, type Step, step } from "./step.ts";

/** Fields of every type that a CEL rule can read. */
export const FIELDS: Json = {
  s: { type: "string", maxLength: 20 },
  t: { type: "string", maxLength: 20 },
  n: { type: "integer" },
  d: { type: "number" },
  b: { type: "boolean" },
  l: { type: "array", maxItems: 5, items: { type: "string", maxLength: 5 } },
  i: { type: "array", maxItems: 5, items: { type: "integer" } },
  set: { type: "array", maxItems: 5, items: { type: "string", maxLength: 5 }, "x-kubernetes-list-type": "set" },
  keyed: {
    type: "array",
    maxItems: 5,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: {
      type: "object",
      required: ["k"],
      properties: { k: { type: "string", maxLength: 5 }, v: { type: "integer" } },
    },
  },
  m: { type: "object", maxProperties: 5, additionalProperties: { type: "string", maxLength: 5 } },
  o: { type: "object", properties: { a: { type: "string", maxLength: 5 }, z: { type: "integer" } } },
  at: { type: "string", format: "date-time" },
  day: { type: "string", format: "date" },
  wait: { type: "string", format: "duration" },
  raw: { type: "string", format: "byte", maxLength: 20 },
  kind: { type: "string", enum: ["red", "blue"] },
  port: { "x-kubernetes-int-or-string": true },
  none: { type: "string", nullable: true, maxLength: 5 },
  part: {
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
  },
  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { a: { type: "integer" } } },
  "dash-ed": { type: "integer" },
  "dot.ted": { type: "integer" },
  "sla/shed": { type: "integer" },
  under__scored: { type: "integer" },
  in: { type: "integer" },
  _led: { type: "integer" },
};
export const VALUES: Json = {
  s: "Hello-World",
  t: "10.0.0.7",
  n: 7,
  d: 2.5,
  b: true,
  l: ["a", "b", "b"],
  i: [3, 1, 2],
  set: ["x", "y"],
  keyed: [{ k: "a", v: 1 }, { k: "b" }],
  m: { k: "v" },
  o: { a: "x", z: 3 },
  at: "2026-01-02T03:04:05Z",
  day: "2026-01-02",
  wait: "1h30m",
  raw: "aGVsbG8=",
  kind: "red",
  port: 80,
  none: null,
  part: { apiVersion: "v1", kind: "Pod", metadata: { name: "p", labels: { a: "b" } }, spec: { x: 1 } },
  free: { a: 1, b: "x" },
  "dash-ed": 1,
  "dot.ted": 2,
  "sla/shed": 3,
  under__scored: 4,
  in: 5,
  _led: 6,
};

/** An object with these rules. */
export const ruled = (rules: readonly Json[], fields: Json = FIELDS): Json => ({
  type: "object",
  properties: fields,
  "x-kubernetes-validations": rules,
});
/** A schema whose `spec` is this. */
export const spec = (schema: Json): Json => ({ type: "object", properties: { spec: schema } });

/** Where the objects of a kind lie in the Namespace of its family, by whose name `group` begins. */
export const placeOf = (group: string, kind: string): string =>
  `/apis/${group}/v1/namespaces/diff-${group.split(".")[0]}/${kind.toLowerCase()}s`;
/** An object of a kind, called "x" if `metadata` has no other name. */
export const objectOf = (group: string, kind: string, spec: Json, metadata: Json = {}): Json => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name: "x", ...metadata },
  spec,
});

/** Makes a definition, which is compared, and waits until it is served, unless it was refused. */
export function definedIfTaken(definition: Json): Step[] {
  const { name } = definition.metadata;
  const { group, names } = definition.spec;
  return [
    step(post(DEFINITIONS, definition), { keep: name }),
    step((kept) => get(kept[name]!.status === 201 ? `/apis/${group}/v1/${names.plural}` : "/version"), {
      unseen: true,
      until: ({ status }) => status === 200,
    }),
  ];
}

/**
 * A kind with a field per rule, and an object per field: what each rule says of the same values. A rule that one server
 * refuses shows in the definition's answer.
 */
export function judged(group: string, kind: string, rules: readonly (string | Json)[], values: Json = VALUES): Step[] {
  const fields = rules.map((rule, i) => [`r${i}`, ruled([typeof rule === "string" ? { rule } : rule])]);
  return [
    ...definedIfTaken(definition(group, kind, spec({ type: "object", properties: Object.fromEntries(fields) }))),
    ...rules.map((_, i) =>
      step(post(placeOf(group, kind), objectOf(group, kind, { [`r${i}`]: values }), { query: { dryRun: "All" } })),
    ),
  ];
}

/** Each rule alone in a definition: whether it is taken, and why not. `manager` names the requests. */
export function alone(
  group: string,
  kind: string,
  rules: readonly (string | Json)[],
  { fields = FIELDS, manager }: { fields?: Json; manager?: string } = {},
): Step[] {
  return rules.map((rule, i) => {
    const rules = [typeof rule === "string" ? { rule } : rule];
    return step(
      post(DEFINITIONS, definition(group, `${kind}${i}`, spec(ruled(rules, fields))), {
        query: { dryRun: "All", ...(manager && { fieldManager: manager }) },
      }),
    );
  });
}

/** Tells what texts an expression comes to: a rule that never holds, with a message that is computed. */
export const telling = (messageExpression: string): Json => ({ rule: "self.n == 0", messageExpression });
