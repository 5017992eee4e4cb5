import type { Clock } from "@slipway/base";
import { type Client, type KubeObject, keyOf, type Resource, refOf } from "@slipway/kube";

/** How long to wait before a broken list or watch is tried again. */
const RETRY_MS = 1_000;

export interface Follow<T extends KubeObject> {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
  resource: Resource<T>;
  /** Default: all of the resource. */
  fieldSelector?: string;
  changed(object: T): void;
  gone(object: T): void;
  /** All of a list, or one change, has been delivered: what is known is the cluster as it was at one moment. */
  whole?(): void;
}

/**
 * Tells every object of a resource once and then each change, over lost watches and expired versions, until the signal
 * aborts. Resolves then; never rejects.
 */
export async function follow<T extends KubeObject>(of: Follow<T>): Promise<void> {
  const known = new Map<string, T>();
  while (!of.signal.aborted) {
    try {
      let version = await relist(of, known);
      for (;;) {
        const next = await watchOnce(of, known, version);
        if (next === undefined) break;
        version = next;
      }
    } catch {
      // Whatever broke the stream, the next list is complete.
    }
    await of.clock.sleep(RETRY_MS, of.signal).catch(() => {});
  }
}

async function relist<T extends KubeObject>(of: Follow<T>, known: Map<string, T>): Promise<string> {
  const { items, resourceVersion } = await of.client.list(of.resource, selected(of));
  const present = new Set(items.map((item) => keyOf(refOf(item))));
  for (const [key, object] of [...known]) if (!present.has(key)) remove(of, known, object);
  for (const item of items) keep(of, known, item);
  of.whole?.();
  return resourceVersion;
}

/** Follows one watch to its end; returns the version to go on from, or undefined when only a new list helps. */
async function watchOnce<T extends KubeObject>(
  of: Follow<T>,
  known: Map<string, T>,
  from: string,
): Promise<string | undefined> {
  let version = from;
  const stream = await of.client.watch(of.resource, { resourceVersion: from, ...selected(of) });
  for await (const event of stream) {
    const object = event.object as T;
    if (event.type === "ERROR") return undefined;
    version = object.metadata.resourceVersion;
    if (event.type === "DELETED") remove(of, known, object);
    else if (event.type !== "BOOKMARK") keep(of, known, object);
    of.whole?.();
  }
  // A stream that ends at once without news would be asked again without end.
  await of.clock.sleep(RETRY_MS, of.signal);
  return version;
}

const selected = ({ signal, fieldSelector }: Pick<Follow<KubeObject>, "signal" | "fieldSelector">) => ({
  signal,
  ...(fieldSelector !== undefined && { fieldSelector }),
});

function keep<T extends KubeObject>(of: Follow<T>, known: Map<string, T>, object: T): void {
  known.set(keyOf(refOf(object)), object);
  of.changed(object);
}

function remove<T extends KubeObject>(of: Follow<T>, known: Map<string, T>, object: T): void {
  known.delete(keyOf(refOf(object)));
  of.gone(object);
}
