import { RE2JS } from "re2js";
import type { HostDeployPolicy } from "../../kinds/metal3/host-deploy-policy.ts";

/** The namespace of a claim, as far as policies ask about it. */
export interface ClaimingNamespace {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/**
 * Whether one of a namespace's policies lets claims of another namespace take its hosts: by its name, by a pattern that is found in its name (Go's
 * dialect, in linear time), or by any of the labels. A pattern that can't be read lets nobody.
 */
export function isAllowed(policies: readonly HostDeployPolicy[], { name, labels }: ClaimingNamespace): boolean {
  return policies.some(({ spec }) => {
    const { names = [], nameMatches, hasLabels = [] } = spec.hostClaimNamespaces ?? {};
    if (names.includes(name) || isFound(nameMatches, name)) return true;
    return hasLabels.some(
      ({ name: label, value }) => Object.hasOwn(labels, label) && (!value || labels[label] === value),
    );
  });
}

/** Whether a policy asks for labels, which have to be looked up. */
export function asksForLabels(policies: readonly HostDeployPolicy[]): boolean {
  return policies.some(({ spec }) => (spec.hostClaimNamespaces?.hasLabels?.length ?? 0) > 0);
}

function isFound(pattern: string | undefined, name: string): boolean {
  if (pattern === undefined || pattern === "") return false;
  try {
    return RE2JS.compile(pattern).matcher(name).find();
  } catch {
    return false;
  }
}
