/** What a namespace of hosts demands before one of them is trusted, as its annotation has it. Pure. */

/** On a Namespace: which trust its hosts need. Whoever may edit a Namespace is its administrator. */
export const TRUST_ANNOTATION = "slipway.dev/trust";

/** What may be written. */
export const DEMANDS = ["first-seen", "approved", "bmc", "tpm"] as const;

/**
 * `usual`: nothing is said, the settings decide. `first-seen`: whoever registers. `approved`: a declaration is not enough. `bmc`: a boot that its BMC was asked for. `tpm`: an approval for a TPM that is proven.
 * `unknown`: what is said means nothing, so nothing is enough. `unread`: the Namespace was not seen yet.
 */
export type Demand = (typeof DEMANDS)[number] | "usual" | "unknown" | "unread";

/** What one namespace demands of the hosts in it. */
export interface NamespacePolicy {
  namespace: string;
  demands: Demand;
  /** As it is written, where it is unknown. */
  value?: string;
}

/** Reads a Namespace's annotations; undefined: the Namespace was not seen yet. */
export function namespacePolicy(
  namespace: string,
  annotations: Readonly<Record<string, string>> | undefined,
): NamespacePolicy {
  if (annotations === undefined) return { namespace, demands: "unread" };
  const value = annotations[TRUST_ANNOTATION];
  if (value === undefined) return { namespace, demands: "usual" };
  const known = DEMANDS.find((each) => each === value);
  return known === undefined
    ? { namespace, demands: "unknown", value: value.slice(0, 64) }
    : { namespace, demands: known };
}

/** As people write it: `slipway.dev/trust: tpm on namespace rack`. */
export function policyName({ namespace, demands, value = demands }: NamespacePolicy): string {
  return `${TRUST_ANNOTATION}: ${value} on namespace ${namespace}`;
}
