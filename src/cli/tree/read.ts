import { Fault } from "@slipway/base";
import type { Client, KubeObject } from "@slipway/kube";
import { ownerTree, type TreeNode } from "../../views/owner-tree.ts";
import { objectsIn, readObjects } from "../listing/read.ts";
import { selectionOf } from "../listing/selected.ts";
import { BUILT_IN, namespacesOf } from "./built-in.ts";
import { isRoot, type Roots } from "./roots.ts";

/** Reads the objects at the top and what may be below them. Rejects with `NotFound` where there is no object of the name. */
export async function readTrees(client: Client, roots: Roots): Promise<{ trees: TreeNode[]; problems: string[] }> {
  const tops = await readRoots(client, roots);
  const [read, builtIn] = await Promise.all([
    readObjects(client, roots.served),
    Promise.all(namespacesOf(tops).map((namespace) => builtInObjects(client, namespace))),
  ]);
  const objects = [...objectsIn(read), ...builtIn.flat()];
  return { trees: tops.map((top) => ownerTree(top, objects)), problems: read.problems };
}

async function readRoots(client: Client, roots: Roots): Promise<KubeObject[]> {
  const { resource, name, selected } = roots;
  const apiVersion = `${resource.group}/${resource.version}`;
  if (name === undefined) {
    const { items } = await client.list(resource, selectionOf(resource, selected));
    return items.map((item) => ({ ...item, apiVersion, kind: resource.kind }));
  }
  const { namespace } = selected;
  const found = await client.find(resource, { name, ...(namespace !== undefined && { namespace }) });
  if (found !== undefined && isRoot(roots, found)) return [found];
  const place = namespace === undefined ? name : `${namespace}/${name}`;
  throw new Fault("NotFound", `${resource.kind}/${place}`, "there is no such object", {
    remedy: `see kubectl get ${resource.plural}${namespace === undefined ? "" : " -A"}`,
  });
}

/** What may not be read is left out. */
async function builtInObjects(client: Client, namespace: string): Promise<KubeObject[]> {
  const lists = await Promise.all(
    BUILT_IN.map(async (resource) => {
      const { items } = await client.list(resource, { namespace }).catch(() => ({ items: [] }));
      const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
      return items.map((item) => ({ ...item, apiVersion, kind: resource.kind }));
    }),
  );
  return lists.flat();
}
