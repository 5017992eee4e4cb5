import type { Client, KubeObject, OwnerReference, Resource } from "@slipway/kube";
import { refOf } from "@slipway/kube";
import { LABELS } from "../../cluster-api/names.ts";

export interface Claim {
  owner: OwnerReference;
  /** Unset: the object gets no label. Clusters may share it. */
  cluster?: string;
  /** Owners of these kinds, set when the object was made, make place for the owner. */
  instead?: readonly string[];
}

/** The patch by which the core makes a provider's object its own; undefined where it is already. Pure. */
export function claimPatch({ metadata }: KubeObject, { owner, cluster, instead = [] }: Claim): object | undefined {
  const { ownerReferences = [], labels = {}, resourceVersion } = metadata;
  const others = ownerReferences.filter(({ uid, kind }) => uid !== owner.uid && !instead.includes(kind));
  const held = ownerReferences.find(({ uid }) => uid === owner.uid);
  const isOwned = held !== undefined && held.controller === owner.controller && held.apiVersion === owner.apiVersion;
  const isLabelled = cluster === undefined || labels[LABELS.clusterName] === cluster;
  if (isOwned && others.length === ownerReferences.length - 1 && isLabelled) return undefined;
  const label = cluster === undefined ? {} : { labels: { [LABELS.clusterName]: cluster } };
  return { metadata: { resourceVersion, ownerReferences: [...others, owner], ...label } };
}

/** Sets owner and label of a provider's object. Resolves with the object as it is then. */
export async function claim(client: Client, resource: Resource, object: KubeObject, of: Claim): Promise<KubeObject> {
  const body = claimPatch(object, of);
  return body === undefined ? object : await client.patch(resource, refOf(object), { type: "merge", body });
}
