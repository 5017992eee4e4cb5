import type { Source } from "./controller.ts";
import type { StoreCache, Watched } from "./store-cache.ts";

/** What one source follows. */
export interface Need {
  watched: Watched;
  /** Its user works without it while the API does not serve the kind. */
  optional: boolean;
}

/** Has the cache keep what a source follows. */
export function needOf(cache: StoreCache, source: Source): Need {
  const { indexes, optional = false } = source;
  return { watched: cache.watched(selectionOf(source), indexes, optional), optional };
}

/** Whether a controller can work with it as it is. */
export function isFilled({ watched: { store }, optional }: Need): boolean {
  return store.synced || (optional && store.missing);
}

/** Resolves when controllers can work with all of them. */
export async function filled(needs: readonly Need[]): Promise<void> {
  await Promise.all(
    needs.map(({ watched: { store }, optional }) => (optional ? store.whenAnswered() : store.whenSynced())),
  );
}

/** Resolves when the API has answered for each: with a list, or that it does not serve the kind. */
export async function answered(needs: readonly Need[]): Promise<void> {
  await Promise.all(needs.map(({ watched: { store } }) => store.whenAnswered()));
}

function selectionOf(source: Source) {
  const { resource, namespace, labelSelector, fieldSelector } = source;
  return {
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}
