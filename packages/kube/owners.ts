import { apiVersionOf, type KubeObject, type OwnerReference, type Resource } from "./object.ts";

/** The reference by which a dependent names its one controlling owner. Garbage collection follows it. */
export function controllerReference<T extends KubeObject>(resource: Resource<T>, owner: T): OwnerReference {
  return { ...ownerReference(resource, owner), controller: true, blockOwnerDeletion: true };
}

/** A plain owner reference: the dependent goes when all its owners are gone. */
export function ownerReference<T extends KubeObject>(resource: Resource<T>, owner: T): OwnerReference {
  const { name, uid } = owner.metadata;
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, name, uid };
}

/** The controlling owner, if the object has one. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** Whether `owner` controls `object`: by uid, since a name may be taken again. */
export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}

/**
 * The owner references with `reference` among them, replacing an older one of the same uid. Pure.
 */
export function withOwner(list: readonly OwnerReference[] | undefined, reference: OwnerReference): OwnerReference[] {
  const others = (list ?? []).filter((r) => r.uid !== reference.uid);
  return [...others, reference];
}
