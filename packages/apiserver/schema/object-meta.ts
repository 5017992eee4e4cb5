import type { Schema } from "../model/served.ts";
import { wireTypeOf } from "../wire/wire-types.ts";
import { schemaOf, TYPE_META } from "./type-schema.ts";

const derived = schemaOf(wireTypeOf("meta", "ObjectMeta")!);

/** `metav1.ObjectMeta`: the fields of every object's `metadata`. Unknown ones are dropped, as elsewhere in an object. */
export const objectMeta: Schema = {
  ...derived,
  properties: {
    ...derived.properties,
    deletionGracePeriodSeconds: { ...derived.properties?.deletionGracePeriodSeconds, nullable: true },
  },
};

/**
 * The schema of a whole object: apiVersion, kind and metadata are known, and metadata is `ObjectMeta` with whatever
 * limits the schema itself puts on the name (`metadata.name`, `metadata.generateName`).
 */
export function wholeObject(schema: Schema): Schema {
  const own = schema.properties ?? {};
  return {
    ...schema,
    properties: {
      ...own,
      apiVersion: own.apiVersion ?? TYPE_META.apiVersion,
      kind: own.kind ?? TYPE_META.kind,
      metadata: withLimits(own.metadata),
    },
  };
}

function withLimits(metadata: Schema | undefined): Schema {
  const own = metadata?.properties ?? {};
  if (own.ownerReferences !== undefined) return metadata as Schema;
  return {
    ...objectMeta,
    properties: {
      ...objectMeta.properties,
      ...(own.name && { name: { ...objectMeta.properties?.name, ...own.name } }),
      ...(own.generateName && {
        generateName: { ...objectMeta.properties?.generateName, ...own.generateName },
      }),
    },
  };
}
