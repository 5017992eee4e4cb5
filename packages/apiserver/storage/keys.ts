/** Under which names objects are kept. */
import type { ServedResource } from "../model/served.ts";

/** The collection that a resource's objects are kept in. */
export function collectionOf(resource: ServedResource): string {
  return resource.storageKey ?? `${resource.group}/${resource.plural}`;
}

/** Key of an object in its collection. */
export function objectKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}
