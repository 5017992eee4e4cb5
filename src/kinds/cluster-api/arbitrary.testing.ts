/** Objects of a kind at random, made from its schema. Only for tests. */
import type { KubeObject } from "@slipway/kube";
import fc from "fast-check";
import type { Kind } from "../kind.ts";
import { type StructuralSchema, structuralSchema } from "../structural-schema.ts";

/** Values of these names are of a shape that a schema does not say. */
const SHAPED: Readonly<Record<string, fc.Arbitrary<string>>> = {
  apiVersion: fc.constantFrom(
    "infrastructure.cluster.x-k8s.io/v1beta1",
    "controlplane.cluster.x-k8s.io/v1alpha1",
    "v1",
  ),
  unhealthyInRange: fc.constantFrom("[1-3]", "[0-10]"),
  unhealthyRange: fc.constantFrom("[1-3]", "[0-10]"),
};
const DURATION = fc.constantFrom("5m", "5m0s", "1h30m", "0s", "0", "90s", "1.5s", "200ms");
const isDuration = (name: string) => /^node\w*Timeout$|^timeout$/.test(name);

/** Objects of a kind with any of its fields there or not. */
export const arbitraryOf = (kind: Kind): fc.Arbitrary<KubeObject> =>
  fc
    .record(
      {
        spec: anyOf(structuralSchema(kind.spec, "spec"), "spec"),
        status: anyOf(structuralSchema(kind.status!, "status"), "status"),
        annotations: fc.option(fc.constant({ note: "kept" }), { nil: undefined }),
        labels: fc.option(
          fc.constantFrom("a", "b").map((name) => ({ "cluster.x-k8s.io/cluster-name": name })),
          // v1alpha2 knows a Machine's Cluster by its label alone.
          { nil: kind.version === "v1alpha2" ? ({ "cluster.x-k8s.io/cluster-name": "a" } as never) : undefined },
        ),
      },
      { requiredKeys: ["spec", "annotations", "labels"], noNullPrototype: true },
    )
    .map(({ annotations, labels, ...body }) => ({
      apiVersion: `${kind.group}/${kind.version}`,
      kind: kind.kind,
      metadata: { name: "a", namespace: "default", ...(labels && { labels }), ...(annotations && { annotations }) },
      ...body,
    })) as unknown as fc.Arbitrary<KubeObject>;

function anyOf(schema: StructuralSchema, name: string): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema["x-kubernetes-int-or-string"]) return fc.oneof(fc.nat({ max: 10 }), fc.constantFrom("50%", "0%"));
  switch (schema.type) {
    case "object":
      return objectOf(schema, name);
    case "array":
      return fc.uniqueArray(anyOf(schema.items!, name), { maxLength: 3, selector: keyOf });
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return fc.nat({ max: 5000 });
    default:
      return textOf(name);
  }
}

const textOf = (name: string): fc.Arbitrary<string> =>
  SHAPED[name] ?? (isDuration(name) ? DURATION : fc.constantFrom("a", "b", "2026-01-01T00:00:00Z"));

/** Items of a list differ by what names them. */
const keyOf = (item: unknown): unknown => {
  const { type, name, conditionType } = (item ?? {}) as Record<string, unknown>;
  return type ?? name ?? conditionType ?? JSON.stringify(item);
};

function objectOf(schema: StructuralSchema, name: string): fc.Arbitrary<unknown> {
  if (schema.additionalProperties)
    return fc.dictionary(fc.constantFrom("a", "b"), anyOf(schema.additionalProperties, name), {
      noNullPrototype: true,
    });
  const fields = Object.entries(schema.properties ?? {}).map(([field, of]) => [field, anyOf(of, field)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: schema.required ?? [], noNullPrototype: true });
}
