import type { Schema } from "../served.ts";

const string: Schema = { type: "string" };
const time: Schema = { type: "string", format: "date-time", nullable: true };
const stringMap: Schema = { type: "object", additionalProperties: string };

const ownerReference: Schema = {
  type: "object",
  description: "An object that this one depends on. When the last owner is gone, the dependent is collected.",
  required: ["apiVersion", "kind", "name", "uid"],
  properties: {
    apiVersion: { ...string, description: "API version of the owner." },
    kind: { ...string, description: "Kind of the owner." },
    name: { ...string, description: "Name of the owner." },
    uid: { ...string, description: "UID of the owner." },
    controller: { type: "boolean", description: "Whether the owner is the managing controller." },
    blockOwnerDeletion: {
      type: "boolean",
      description: "Whether a foreground deletion of the owner waits for this object.",
    },
  },
  "x-kubernetes-map-type": "atomic",
};

const managedFieldsEntry: Schema = {
  type: "object",
  description: "The fields that one manager set through one version of the API.",
  properties: {
    manager: { ...string, description: "Who set the fields." },
    operation: { ...string, description: "Apply or Update." },
    apiVersion: { ...string, description: "Version in which the fields are written." },
    time: { ...time, description: "When the set of fields last changed." },
    fieldsType: { ...string, description: "Always FieldsV1." },
    fieldsV1: {
      type: "object",
      description: "The set of fields, as a tree.",
      "x-kubernetes-preserve-unknown-fields": true,
    },
    subresource: { ...string, description: "Subresource through which the fields were set." },
  },
};

/** `metav1.ObjectMeta`: what every object's `metadata` may hold. Unknown fields in it are dropped as anywhere else. */
export const objectMeta: Schema = {
  type: "object",
  description: "Standard object's metadata: data that every stored object has.",
  properties: {
    name: { ...string, description: "Unique within the namespace; can't change." },
    generateName: { ...string, description: "Prefix from which the server makes a unique name." },
    namespace: { ...string, description: "Space within which the name is unique." },
    selfLink: { ...string, description: "Not set any more." },
    uid: { ...string, description: "Unique in time and space; set by the server." },
    resourceVersion: { ...string, description: "Opaque version of the stored object." },
    generation: {
      type: "integer",
      format: "int64",
      description: "Counts the changes of the desired state.",
    },
    creationTimestamp: {
      ...time,
      description: "CreationTimestamp is a timestamp of the object's creation, set by the server.",
    },
    deletionTimestamp: { ...time, description: "When the object is to be gone; set by a graceful deletion." },
    deletionGracePeriodSeconds: {
      type: "integer",
      format: "int64",
      nullable: true,
      description: "Seconds given to the object to end.",
    },
    labels: { ...stringMap, description: "Keys and values by which objects are selected." },
    annotations: { ...stringMap, description: "Keys and values that tools keep with the object." },
    ownerReferences: {
      type: "array",
      items: ownerReference,
      description: "Objects that this one depends on.",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "uid",
    },
    finalizers: {
      type: "array",
      items: string,
      description: "Must be empty before the object is removed.",
      "x-kubernetes-list-type": "set",
      "x-kubernetes-patch-strategy": "merge",
    },
    managedFields: {
      type: "array",
      items: managedFieldsEntry,
      description: "Who manages which fields.",
      "x-kubernetes-list-type": "atomic",
    },
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
      apiVersion: own.apiVersion ?? {
        ...string,
        description: "APIVersion defines the group and version of this representation.",
      },
      kind: own.kind ?? { ...string, description: "Kind of the object." },
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
