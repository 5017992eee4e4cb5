import type { KubeObject } from "@slipway/kube";
import { at } from "../kinds/cluster-api/field-path.ts";

/** An object with what it owns or uses. */
export interface TreeNode {
  object: KubeObject;
  children: readonly TreeNode[];
}

/**
 * The tree below an object: by owner references, and hosts below what they are given to (`spec.consumerRef`). An object with several owners
 * stands below the one that controls it, else below the first. Each object is in it once, whatever circles owners make. Pure.
 */
export function ownerTree(root: KubeObject, objects: readonly KubeObject[]): TreeNode {
  const children = Map.groupBy(
    objects.filter((object) => object.metadata.uid !== root.metadata.uid),
    parentIn(root, objects),
  );
  const seen = new Set([root.metadata.uid]);
  const nodeOf = (object: KubeObject): TreeNode => ({
    object,
    children: (children.get(object.metadata.uid) ?? [])
      .filter(({ metadata: { uid } }) => !seen.has(uid) && seen.add(uid))
      .sort(byKindAndName)
      .map(nodeOf),
  });
  return nodeOf(root);
}

/** Finds the uid of the object under which one stands; undefined: under none of these. */
function parentIn(root: KubeObject, objects: readonly KubeObject[]): (object: KubeObject) => string | undefined {
  const uids = new Set([root, ...objects].map(({ metadata }) => metadata.uid));
  const named = new Map([root, ...objects].map((object) => [nameOf(object), object.metadata.uid]));
  return (object) => {
    const owners = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uids.has(uid));
    const owner = owners.find(({ controller }) => controller) ?? owners[0];
    return owner?.uid ?? named.get(consumerOf(object));
  };
}

const groupOf = (apiVersion: string): string => apiVersion.split("/").slice(0, -1).join();

const nameOf = ({ apiVersion, kind, metadata: { namespace = "", name } }: KubeObject): string =>
  `${groupOf(apiVersion)} ${kind} ${namespace}/${name}`;

/** The consumer of a host, as `nameOf` names objects. Consumers without a namespace are of the cluster. */
function consumerOf(object: KubeObject): string {
  const field = (name: string): string => String(at(object, `spec.consumerRef.${name}`) ?? "");
  return `${groupOf(field("apiVersion"))} ${field("kind")} ${field("namespace")}/${field("name")}`;
}

function byKindAndName(a: KubeObject, b: KubeObject): number {
  return a.kind.localeCompare(b.kind) || a.metadata.name.localeCompare(b.metadata.name, "en", { numeric: true });
}
