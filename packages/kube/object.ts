/** The shapes every Kubernetes object shares (apimachinery `metav1`). Objects read from the API or the cache are shared: never change one in place. */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** An object as it is sent to be created: the server fills in the rest. */
export type Draft<T extends KubeObject> = Omit<T, "metadata" | "status" | "apiVersion" | "kind"> & {
  metadata: Partial<ObjectMeta>;
};

/**
 * Which API resource objects of type `T` live under. The type parameter is carried for the compiler only.
 */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Lists and watches answer with metadata alone (`metadataOf`). */
  readonly metadataOnly?: boolean;
  readonly __object?: T;
}

/** The metadata of objects of a resource, for lists and watches: what the objects hold is neither sent nor kept. In caches it is a resource of its own. */
export function metadataOf({ group, version, kind, plural, namespaced }: Resource): Resource {
  return { group, version, kind, plural, namespaced, metadataOnly: true };
}

/** What asks for metadata alone, as objects or as a list. */
export function acceptOf({ metadataOnly = false }: Resource, list: boolean): { accept?: string } {
  if (!metadataOnly) return {};
  return { accept: `application/json;as=PartialObjectMetadata${list ? "List" : ""};g=meta.k8s.io;v=v1` };
}

/** Names one object of a known resource. */
export interface Ref {
  name: string;
  namespace?: string;
}

/** `namespace/name`, or `name` for cluster-scoped objects: the key of caches and queues. */
export function keyOf(ref: Ref): string {
  return ref.namespace === undefined || ref.namespace === "" ? ref.name : `${ref.namespace}/${ref.name}`;
}

/** The object's namespace and name; no namespace for a cluster-scoped object. */
export function refOf(object: KubeObject): Ref {
  const { name, namespace } = object.metadata;
  return namespace === undefined ? { name } : { name, namespace };
}

/** Reads a key as `keyOf` writes it: `namespace/name`, or `name`. */
export function refFromKey(key: string): Ref {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** `group/version`, or `v1` in the core group. */
export function apiVersionOf(resource: Pick<Resource, "group" | "version">): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** `Kind/name` or `Kind/namespace/name`, as faults and events name an object. */
export function nameOf(resource: Pick<Resource, "kind">, ref: Ref): string {
  return `${resource.kind}/${keyOf(ref)}`;
}

/** The URL path of a resource's collection or of one object in it. */
export function pathOf(
  resource: Resource,
  at: { namespace?: string; name?: string; subresource?: string } = {},
): string {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = resource.namespaced && at.namespace ? `/namespaces/${encodeURIComponent(at.namespace)}` : "";
  const name = at.name === undefined ? "" : `/${encodeURIComponent(at.name)}`;
  const sub = at.subresource === undefined ? "" : `/${at.subresource}`;
  return `${root}${scope}/${resource.plural}${name}${sub}`;
}

/** `metav1.Condition`. */
export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}
