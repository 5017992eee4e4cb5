import type { KubeObject, Ref, Resource } from "./object.ts";

/**
 * What the API held a moment ago, for the resources that a manager's sources watch.
 * Objects are shared and read-only, without `managedFields`. Asking for an unwatched resource is a `Fault` (`Undeclared`).
 */
export interface Cache {
  get<T extends KubeObject>(resource: Resource<T>, ref: Ref): T | undefined;
  list<T extends KubeObject>(resource: Resource<T>, namespace?: string): readonly T[];
  /** Objects for which the declared index function yields `value`. */
  byIndex<T extends KubeObject>(resource: Resource<T>, index: string, value: string): readonly T[];
}
