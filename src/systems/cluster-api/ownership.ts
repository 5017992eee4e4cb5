import { isDeepStrictEqual } from "node:util";
import { Fault, isFault } from "@slipway/base";
import {
  type Client,
  type JsonPatchOperation,
  type KubeObject,
  type OwnerReference,
  type Patch,
  type Resource,
  refOf,
} from "@slipway/kube";
import { LABELS } from "../../cluster-api/names.ts";

export interface Claim {
  owner: OwnerReference;
  /** Unset: the object gets no label. Clusters may share it. */
  cluster?: string;
  /** Owners of these kinds, set when the object was made, make place for the owner. */
  instead?: readonly string[];
}

const OWNERS = "/metadata/ownerReferences";
const LABEL = `/metadata/labels/${LABELS.clusterName.replaceAll("/", "~1")}`;

/**
 * The patch by which the core makes a provider's object its own; undefined where it is already. It holds against the owners that were seen, so what
 * the provider writes meanwhile costs no conflict, nor do fifty clusters that share a template. Pure.
 */
export function claimPatch({ metadata }: KubeObject, { owner, cluster, instead = [] }: Claim): Patch | undefined {
  const { uid, ownerReferences = [], labels, resourceVersion } = metadata;
  const others = ownerReferences.filter((held) => held.uid !== owner.uid && !instead.includes(held.kind));
  const held = ownerReferences.find((reference) => reference.uid === owner.uid);
  const isOwned = held !== undefined && held.controller === owner.controller && held.apiVersion === owner.apiVersion;
  const isLabelled = cluster === undefined || labels?.[LABELS.clusterName] === cluster;
  if (isOwned && others.length === ownerReferences.length - 1 && isLabelled) return undefined;
  const wanted = [...others, owner];
  if (ownerReferences.length === 0 || (!isLabelled && labels === undefined)) {
    const label = cluster === undefined ? {} : { labels: { [LABELS.clusterName]: cluster } };
    return { type: "merge", body: { metadata: { resourceVersion, ownerReferences: wanted, ...label } } };
  }
  const isAdded = held === undefined && others.length === ownerReferences.length;
  const owners: JsonPatchOperation[] = isAdded
    ? [{ op: "add", path: `${OWNERS}/-`, value: owner }]
    : [
        { op: "test", path: OWNERS, value: ownerReferences },
        { op: "replace", path: OWNERS, value: wanted },
      ];
  const label: JsonPatchOperation[] = isLabelled ? [] : [{ op: "add", path: LABEL, value: cluster }];
  return { type: "json", body: [{ op: "test", path: "/metadata/uid", value: uid }, ...owners, ...label] };
}

/** Sets owner and label of a provider's object. Rejects with `Conflict` where its owners were changed meanwhile. */
export async function claim(client: Client, resource: Resource, object: KubeObject, of: Claim): Promise<void> {
  const patch = claimPatch(object, of);
  if (patch === undefined) return;
  try {
    await client.patch(resource, refOf(object), patch);
  } catch (error) {
    if (!isFault(error, "Invalid")) throw error;
    const now = await client.find(resource, refOf(object));
    const isSame = (field: "uid" | "ownerReferences"): boolean =>
      isDeepStrictEqual(now?.metadata[field], object.metadata[field]);
    if (isSame("uid") && isSame("ownerReferences")) throw error;
    throw new Fault("Conflict", `${resource.kind}/${object.metadata.name}`, "its owners were changed meanwhile");
  }
}
