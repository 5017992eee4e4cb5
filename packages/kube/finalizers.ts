import { isFault } from "@slipway/base";
import type { Client } from "./client.ts";
import { type KubeObject, type Resource, refOf } from "./object.ts";

/**
 * Puts the finalizer on the object; foreign finalizers stay, also with concurrent writers. Returns the object as it is then.
 * `Conflict` when another writer keeps writing; `NotFound` when it is gone.
 */
export function addFinalizer<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  finalizer: string,
): Promise<T> {
  return change(client, resource, object, (list) => (list.includes(finalizer) ? undefined : [...list, finalizer]));
}

/** Takes the finalizer off the object; others' finalizers stay. Resolves also when the object is gone already. */
export async function removeFinalizer<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  finalizer: string,
): Promise<void> {
  try {
    await change(client, resource, object, (list) =>
      list.includes(finalizer) ? list.filter((f) => f !== finalizer) : undefined,
    );
  } catch (error) {
    if (!isFault(error, "NotFound")) throw error;
  }
}

/** Whether the object carries the finalizer. Pure. */
export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) === true;
}

const TRIES = 5;

/** A merge patch replaces the whole list, so it carries the resourceVersion of the list it was made from. */
async function change<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  next: (list: readonly string[]) => string[] | undefined,
): Promise<T> {
  const { uid } = object.metadata;
  for (let current = object, tries = 1; ; tries++) {
    const finalizers = next(current.metadata.finalizers ?? []);
    // A successor of the same name has its own finalizers.
    if (finalizers === undefined || current.metadata.uid !== uid) return current;
    const body = { metadata: { finalizers, resourceVersion: current.metadata.resourceVersion } };
    try {
      return await client.patch(resource, refOf(current), { type: "merge", body });
    } catch (error) {
      if (!isFault(error, "Conflict") || tries === TRIES) throw error;
      current = await client.get(resource, refOf(object));
    }
  }
}
