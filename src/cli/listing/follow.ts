import type { Clock, Log, Random } from "@slipway/base";
import { type Client, type KubeObject, type Resource, reflect, Store } from "@slipway/kube";
import { type Selected, selectionOf } from "./selected.ts";

export interface FollowPorts {
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
}

/** One kind that is followed. */
export interface Followed<T extends KubeObject = KubeObject> {
  resource: Resource<T>;
  store: Store<T>;
}

/**
 * Follows the resources by watches until `signal` is aborted. `changed` is called with each change once all of them were listed; before, with
 * none. Resolves when the first lists are there. A resource that the API does not serve is empty until it does.
 */
export async function follow(
  resources: readonly Resource[],
  selected: Selected,
  ports: FollowPorts,
  {
    changed,
    signal,
  }: { changed: (object: KubeObject, type: "added" | "updated" | "deleted") => void; signal: AbortSignal },
): Promise<Followed[]> {
  const followed = resources.map((resource) => ({ resource, store: new Store() }));
  let isComplete = false;
  for (const { resource, store } of followed) {
    store.listen(({ object, type }) => {
      if (isComplete) changed({ ...object, apiVersion: apiVersionOf(resource), kind: resource.kind }, type);
    });
    const selection = { resource, ...selectionOf(resource, selected) };
    reflect(selection, store, ports, signal).catch((error: unknown) =>
      ports.log.warn({ error: String(error) }, "a watch ended"),
    );
  }
  const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  await Promise.race([Promise.all(followed.map(({ store }) => store.whenAnswered())), stopped]);
  isComplete = true;
  return followed;
}

/** The objects that are known of it now, with their type. */
export const objectsOf = ({ resource, store }: Followed): KubeObject[] =>
  [...store.values()].map((object) => ({ ...object, apiVersion: apiVersionOf(resource), kind: resource.kind }));

const apiVersionOf = ({ group, version }: Resource): string => (group === "" ? version : `${group}/${version}`);
