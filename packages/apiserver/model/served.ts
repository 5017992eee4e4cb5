/**
 * What the embedded API serves: one `ServedResource` per resource and version, whether built in or declared by a
 * CustomResourceDefinition. The request path knows nothing else about a kind.
 */
import type { KubeObject } from "@slipway/kube";
import type { Passes } from "../json/turns.ts";

/** An OpenAPI v3 structural schema as CustomResourceDefinitions carry it, with Kubernetes' extensions. */
export interface Schema {
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  format?: string;
  title?: string;
  description?: string;
  default?: unknown;
  enum?: readonly unknown[];
  nullable?: boolean;
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  required?: readonly string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  allOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  not?: Schema;
  externalDocs?: { url: string; description?: string };
  example?: unknown;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: readonly string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  "x-kubernetes-validations"?: readonly ValidationRule[];
  /** Built-in kinds only: strategic merge patch (`merge`, `replace`, `retainKeys`, or `merge,retainKeys`). */
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-patch-merge-key"?: string;
}

export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/** One thing wrong with an object, as `Status.details.causes` names it (apimachinery `field.Error`). */
export interface FieldError {
  /** Path as kube-apiserver writes it: `spec.containers[0].name`, `metadata.labels[app.kubernetes.io/x]`. */
  field: string;
  reason:
    | "FieldValueInvalid"
    | "FieldValueRequired"
    | "FieldValueNotSupported"
    | "FieldValueForbidden"
    | "FieldValueTypeInvalid"
    | "FieldValueTooLong"
    | "FieldValueTooMany"
    | "FieldValueDuplicate"
    | "FieldValueNotFound";
  /** The text behind the path, in field.Error's wording: `Invalid value: "x": must be …`, `Required value`, `Unsupported value: "x": supported values: "a", "b"`. */
  message: string;
}

/** An object on its way through the server: JSON, possibly not yet whole. Stored objects are frozen by convention: copy before change. */
export type Body = KubeObject & Record<string, unknown>;

/**
 * `objects`, each in any version of its kind, in `apiVersion`, as many and in the same order; what each has become is judged afterwards. Gets
 * copies, which it may change. Rejects with, or throws, a `Fault` whose text is the answer's.
 */
export type Convert = (objects: readonly Body[], apiVersion: string) => unknown[] | Promise<unknown[]>;

/** A printed column: a JSONPath below the object (CRDs), or a function (built-in kinds). */
export interface Column {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "date";
  format?: string;
  description?: string;
  /** 0: always shown; above: only with `-o wide`. */
  priority?: number;
  value: { jsonPath: string } | ((object: Body, now: number) => string | number | boolean | null);
}

/** What writers may put into the metadata of an object that is there. */
export const METADATA_FIELDS = ["labels", "annotations", "finalizers", "ownerReferences"] as const;
export type MetadataField = (typeof METADATA_FIELDS)[number];

/** What deleting an object means beyond finalizers and grace. */
export interface Deletion {
  /** Why the object of this name may never be deleted; undefined: it may. */
  refuses?(name: string): string | undefined;
  /** Holds every deleted object until what depends on it is gone. */
  finalizer?: string;
  /** False: a deletion is no change of `metadata.generation`. */
  counts?: boolean;
  /** The status of an object that is to go, in RFC 3339 time; `already`: it was to go before. */
  status(status: unknown, now: string, already: boolean): unknown;
}

export interface ServedResource {
  group: string;
  version: string;
  kind: string;
  listKind: string;
  plural: string;
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  verbs: readonly string[];
  /** `status`: writes to the main resource ignore status and the other way round, where the kind has the subresource. */
  status: boolean;
  scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  schema: Schema;
  /** Built-in kinds accept strategic merge patches and keep unknown fields out by schema; CRD-made ones prune and have CEL. */
  builtIn: boolean;
  columns: readonly Column[];
  /** Fields that `fieldSelector` may name besides metadata.name and metadata.namespace: path → value. */
  selectableFields?: Readonly<Record<string, (object: Body) => string>>;
  /** False: neither the storage version nor a reason to keep `metadata.generation` counting (Events, Secrets, …). */
  hasGeneration: boolean;
  /** Metadata whose change counts too. */
  generationCounts?: readonly ("annotations" | "labels")[];
  /** Group/version under which objects are stored; equal to its own where there is one version. */
  storageVersion: string;
  /** Name of the collection the objects are kept in, where two resources show the same objects (Events); unset: `group/plural`. */
  storageKey?: string;
  /** All versions of a custom resource by apiVersion, those that are not served included. */
  versions?: ReadonlyMap<string, ServedResource>;
  /** What turns objects of the kind's other versions into this one; unset: only `apiVersion` differs. */
  conversion?: Convert | undefined;
  /** Between this resource's shape and the stored one. Pure; unset: only `apiVersion` differs. */
  toStorage?(object: Body): Body;
  fromStorage?(object: Body): Body;
  deprecation?: string;
  /** Defaults that depend on other fields, after those of the schema, of every object that is decoded. Works in place; safe to repeat. */
  setDefaults?(object: Body): void;
  /** The status that a create sends is kept (Nodes). */
  keepsStatus?: boolean;
  /** Metadata of a built-in kind that a write of the status leaves as it is: none unless said. Of custom resources it leaves all. */
  statusKeeps?: readonly MetadataField[];
  /** An update must name the version it replaces, as for custom resources. */
  needsVersion?: boolean;
  /** A replacement of what is not there creates it. */
  createsOnUpdate?: boolean;
  /** A deletion that removes the object answers it, instead of a Status. */
  answersDeleted?: boolean;
  /** Fills in what the server owns (Service addresses, Pod phase). Works on the server's own copy. */
  prepareCreate?(object: Body, now: number): void;
  /** `old` is frozen. */
  prepareUpdate?(object: Body, old: Body, now: number): void;
  /** Rules beyond the schema; in passes where that may take long. `old` is set for updates. */
  validate?(object: Body, old?: Body): FieldError[] | Passes<FieldError[]>;
  /** Who creates an object comes to own none of its spec, where upstream resets all that a writer might own. */
  untracked?: boolean;
  /** Its objects are what others are in: Namespaces. */
  holdsOthers?: boolean;
  /** Its objects define what else is served: CustomResourceDefinitions. */
  definesKinds?: boolean;
  /** Unset: an object goes at once unless finalizers or grace hold it. Set: its grace is not written down. */
  deletion?: Deletion;
  /** A question: a create is answered (`Core.answers`) and nothing is kept. */
  isQuestion?: boolean;
  /** Gives out what is scarce, in place, once the object is known to be right. Returns what can't be had. */
  allocate?(object: Body): FieldError[];
  /** What a writer is warned of though the object is taken. `old` is set for updates. */
  warnings?(object: Body, old?: Body): string[];
  /** Default seconds of grace on delete (Pods: 30); unset: gone at once unless finalizers hold it. */
  gracePeriodSeconds?(object: Body): number;
}

/** `group/version, Resource=plural` key of the registry. */
export function servedKey(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}

/** `v1`, or `group/version`. */
export function apiVersionOf(resource: { group: string; version: string }): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}
