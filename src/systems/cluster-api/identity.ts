import { isDeepStrictEqual } from "node:util";
import type { KubeObject, OwnerReference } from "@slipway/kube";

/** What must stand in the metadata of an object of the core's. */
export interface Identity {
  finalizer: string;
  labels: Readonly<Record<string, string>>;
  owner: OwnerReference | undefined;
}

/** Metadata that is missing, to be patched under the object's version; undefined where nothing is. Pure. */
export function missingIdentity({ metadata }: KubeObject, { finalizer, labels, owner }: Identity): object | undefined {
  const finalizers = metadata.finalizers?.includes(finalizer)
    ? {}
    : { finalizers: [...(metadata.finalizers ?? []), finalizer] };
  const lacking = Object.entries(labels).filter(([name, value]) => metadata.labels?.[name] !== value);
  const owners = owner && ownersWith(metadata.ownerReferences ?? [], owner);
  const body = {
    ...finalizers,
    ...(lacking.length > 0 && { labels: Object.fromEntries(lacking) }),
    ...(owners && { ownerReferences: owners }),
  };
  return Object.keys(body).length === 0 ? undefined : { resourceVersion: metadata.resourceVersion, ...body };
}

function ownersWith(held: readonly OwnerReference[], owner: OwnerReference): OwnerReference[] | undefined {
  const same = held.find(({ uid }) => uid === owner.uid);
  if (same !== undefined && isDeepStrictEqual({ ...same }, { ...same, ...owner })) return undefined;
  return [...held.filter(({ uid }) => uid !== owner.uid), owner];
}
