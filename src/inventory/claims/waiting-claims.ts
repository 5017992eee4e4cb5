/** Which HostClaims are looked at again when a host changes: those that it may be for, and not every one that waits. Pure. */
import { matchesLabels } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { HostClaim } from "../../kinds/metal3/host-claim.ts";
import { obstacle } from "./choose.ts";

/** A host is one claim's. A few more are looked at, since a policy may keep it from the first. */
const WOKEN = 8;
const YES = ["yes"];
const NO: readonly string[] = [];

/** Index: hosts that can be had at all, under `yes`. */
export function offered(host: BareMetalHost): readonly string[] {
  return obstacle(host, {}) === undefined ? YES : NO;
}

/** Index: claims without a host, under `yes`. */
export function waits({ metadata, status }: HostClaim): readonly string[] {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const isWaiting = status?.bareMetalHost === undefined || ready?.reason === "NoCapacity";
  return isWaiting && metadata.deletionTimestamp === undefined ? YES : NO;
}

/** Index: hosts by the name of the HostClaim that has them. */
export function claimedBy({ spec }: BareMetalHost): readonly string[] {
  const { kind, name } = spec.consumerRef ?? {};
  return kind === "HostClaim" && name !== undefined ? [name] : NO;
}

/** Whether a host can be had, and by whom, has changed. */
export function isNews(host: BareMetalHost, before: BareMetalHost | undefined): boolean {
  if (offered(host) !== YES) return false;
  if (before === undefined || offered(before) !== YES) return true;
  return JSON.stringify(host.metadata.labels) !== JSON.stringify(before.metadata.labels);
}

/** Of claims that wait the oldest that may have the host. */
export function claimsFor(host: BareMetalHost, waiting: readonly HostClaim[]): HostClaim[] {
  const age = ({ metadata }: HostClaim): string =>
    `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;
  return waiting
    .filter((claim) => mayHave(claim, host))
    .map((claim) => ({ claim, age: age(claim) }))
    .sort((a, b) => (a.age < b.age ? -1 : 1))
    .slice(0, WOKEN)
    .map(({ claim }) => claim);
}

function mayHave({ spec }: HostClaim, { metadata }: BareMetalHost): boolean {
  const { inNamespace, ...labels } = spec.hostSelector ?? {};
  if (inNamespace !== undefined && inNamespace !== "" && inNamespace !== metadata.namespace) return false;
  return matchesLabels(labels as Parameters<typeof matchesLabels>[0], metadata.labels ?? {});
}
