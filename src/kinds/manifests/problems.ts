/** What is wrong with a manifest of a kind, field by field. Never holds a value, which may be a secret. Pure. */
import type { KubeObject } from "@slipway/kube";
import type { Kind } from "../kind.ts";
import { type StructuralSchema, structuralSchema } from "../structural-schema.ts";

export interface Problem {
  path: readonly PropertyKey[];
  message: string;
}

/** Fields that the version does not have, and values that it does not allow. Its status is not looked at: who creates an object has no say in it. */
export function problemsOf(kind: Kind, object: KubeObject): Problem[] {
  const { spec, metadata } = object as KubeObject & { spec?: unknown };
  const read = kind.spec.safeParse(spec);
  const wrong = read.success
    ? []
    : read.error.issues.map(({ path, message }) => ({ path: ["spec", ...path], message }));
  const known = new Set(["apiVersion", "kind", "metadata", "spec", "status"]);
  const strange = Object.keys(object).filter((name) => !known.has(name));
  return [
    ...strange.map((name) => ({ path: [name], message: NO_FIELD })),
    ...unknownFields(structuralSchema(kind.spec, "spec"), spec, ["spec"]),
    ...wrong,
    ...(["labels", "annotations"] as const).flatMap((name) =>
      Object.entries(metadata[name] ?? {}).flatMap(([key, value]) =>
        typeof value === "string"
          ? []
          : [{ path: ["metadata", name, key], message: "must be a text: write quotes around it" }],
      ),
    ),
  ];
}

const NO_FIELD = "there is no such field";

function unknownFields(schema: StructuralSchema, value: unknown, path: readonly PropertyKey[]): Problem[] {
  if (Array.isArray(value))
    return value.flatMap((item, at) =>
      schema.items === undefined ? [] : unknownFields(schema.items, item, [...path, at]),
    );
  if (value === null || typeof value !== "object" || schema["x-kubernetes-preserve-unknown-fields"]) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const of = schema.properties?.[name] ?? schema.additionalProperties;
    if (of !== undefined) return unknownFields(of, inner, [...path, name]);
    return schema.properties === undefined ? [] : [{ path: [...path, name], message: NO_FIELD }];
  });
}
