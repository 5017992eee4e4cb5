import { ownerTree, type TreeNode } from "../../views/owner-tree.ts";
import { type Followed, type FollowPorts, follow, objectsOf } from "../listing/follow.ts";
import type { Begin } from "../listing/live.ts";
import { readable } from "../listing/refusals.ts";
import { BUILT_IN, namespacesOf } from "./built-in.ts";
import { isRoot, type Roots } from "./roots.ts";

/** Trees that are kept as they are in the cluster, once `begin` has been called. */
export interface FollowedTrees {
  begin: Begin;
  /** As they are now; without the object that is named, when it has been deleted. */
  trees(): TreeNode[];
}

/** Follows the objects at the top and all that may be below them, in each namespace from when a top is in it. What may not be read is left out. */
export async function followTrees(roots: Roots, ports: FollowPorts): Promise<FollowedTrees> {
  const { resource, selected } = roots;
  const { client } = ports;
  const { resources } = await readable(
    client,
    roots.served.map(({ kind }) => kind),
    {},
  );
  const builtIn = new Map<string, readonly Followed[]>();
  let [tops, below]: [Followed[], Followed[]] = [[], []];
  let followMore: (namespace: string) => Promise<void>;
  const rootsNow = () => tops.flatMap(objectsOf).filter((object) => isRoot(roots, object));

  const begin: Begin = async (changed, signal) => {
    followMore = async (namespace) => {
      builtIn.set(namespace, []);
      const allowed = await readable(client, BUILT_IN, { namespace });
      builtIn.set(namespace, await follow(allowed.resources, { namespace }, ports, { changed, signal }));
      changed();
    };
    [tops, below] = await Promise.all([
      follow([resource], selected, ports, { changed, signal }),
      follow(resources, {}, ports, { changed, signal }),
    ]);
    await Promise.all(namespacesOf(rootsNow()).map(followMore));
  };
  const trees = (): TreeNode[] => {
    const found = rootsNow();
    for (const namespace of namespacesOf(found))
      if (!builtIn.has(namespace))
        followMore(namespace).catch((error: unknown) => ports.log.warn({ error: String(error) }, "a watch ended"));
    const objects = [...below, ...[...builtIn.values()].flat()].flatMap(objectsOf);
    return found.map((root) => ownerTree(root, objects));
  };
  return { begin, trees };
}
