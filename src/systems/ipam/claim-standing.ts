/** How a claim stands, by what is in the cache. Pure. */
import { type Cache, conditionOf, controllerOf, refOf } from "@slipway/kube";
import { isPaused } from "../../cluster-api/pause.ts";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { IPAddress } from "../../kinds/ipam/ip-address.ts";
import type { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";
import { FINALIZERS } from "./names.ts";

function clusterOf(cache: Cache, { metadata, spec }: IPAddressClaim): Cluster | undefined {
  return spec.clusterName === undefined
    ? undefined
    : cache.get(Cluster, { namespace: metadata.namespace!, name: spec.clusterName });
}

/** Nothing is done for a claim that is paused. A Cluster that is gone keeps none from being released. */
export function mayBeReleased(cache: Cache, claim: IPAddressClaim): boolean {
  return (
    claim.metadata.deletionTimestamp !== undefined &&
    claim.metadata.finalizers?.includes(FINALIZERS.claim) === true &&
    !isPaused(claim, clusterOf(cache, claim))
  );
}

/** Whether it may get an address: its Cluster, where it names one, is there, and nothing is paused. */
export function mayBeServed(cache: Cache, claim: IPAddressClaim): boolean {
  const cluster = clusterOf(cache, claim);
  return (claim.spec.clusterName === undefined || cluster !== undefined) && !isPaused(claim, cluster);
}

/** Whether the claim's IPAddress is in the cache. */
export function hasAddress(cache: Cache, claim: IPAddressClaim): boolean {
  const address = cache.get(IPAddress, refOf(claim));
  return address !== undefined && controllerOf(address)?.uid === claim.metadata.uid;
}

/** Whether its status says that it has its address. */
export const isTold = ({ status }: IPAddressClaim): boolean =>
  status?.addressRef !== undefined && conditionOf(status.conditions, "Ready")?.status === "True";
