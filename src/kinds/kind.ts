import type { KubeObject, ObjectMeta, Resource } from "@slipway/kube";
import type { z } from "zod";

/** A printed column of `kubectl get`. */
export interface PrinterColumn {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "date";
  jsonPath: string;
  description?: string;
  /** Above 0: only with `-o wide`. */
  priority?: number;
}

/** A CEL rule on the part of the schema at `path` (`spec`, `spec.ports[]`, or empty for the root). */
export interface Rule {
  path: string;
  rule: string;
  message: string;
  /** Holds on create too, with `oldSelf` as an optional: what exists already can be exempted. */
  optionalOldSelf?: true;
}

/**
 * One version of an API kind, declared once: TypeScript type, CRD, API reference and the client's typing come from it.
 * Field spellings are the original's, odd ones included.
 */
export interface Kind<T extends KubeObject = KubeObject> extends Resource<T> {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Labels of its definition, such as the contracts of Cluster API that its versions fulfil. */
  readonly labels: Readonly<Record<string, string>>;
  readonly description: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType | undefined;
  /** The status is written with the object, as by kinds of before there were subresources. */
  readonly statusInline?: true | undefined;
  readonly columns: readonly PrinterColumn[];
  readonly scale: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string } | undefined;
  readonly rules: readonly Rule[];
  /** How this version becomes the stored one and back; unset: the two have the same fields. */
  readonly conversion?: VersionConversion | undefined;
  /** False: objects may still be stored in it, but the API does not serve it. */
  readonly served: boolean;
}

/**
 * A version's way to the stored version and back: all versions meet there, so each knows one neighbour. Pure, and without loss: what the
 * other version has no field for goes into an annotation. `apiVersion` is set for them.
 */
export interface VersionConversion {
  toStored(object: KubeObject): KubeObject;
  fromStored(object: KubeObject): KubeObject;
}

/** An object of a kind: `Spec` and `Status` as a reader sees them, that is with defaults filled in. */
export interface ObjectOf<Spec, Status> extends KubeObject {
  metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
}

/** Declares a kind. Short of a listed default, all parts are named. */
export function defineKind<S extends z.ZodType, T extends z.ZodType>(of: {
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  shortNames?: readonly string[];
  categories?: readonly string[];
  labels?: Readonly<Record<string, string>>;
  description: string;
  spec: S;
  status?: T;
  statusInline?: true;
  columns: readonly PrinterColumn[];
  scale?: Kind["scale"];
  rules?: readonly Rule[];
  conversion?: VersionConversion;
  served?: boolean;
}): Kind<ObjectOf<z.output<S>, Partial<z.output<T>>>> {
  return {
    ...of,
    singular: of.kind.toLowerCase(),
    listKind: `${of.kind}List`,
    shortNames: of.shortNames ?? [],
    categories: of.categories ?? [],
    labels: of.labels ?? {},
    status: of.status,
    scale: of.scale,
    rules: of.rules ?? [],
    served: of.served ?? true,
  };
}

/** The object type of a kind: `type InstancePool = Of<typeof InstancePool>`. */
export type Of<K> = K extends Kind<infer T> ? T : never;
