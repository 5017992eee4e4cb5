/** What BareMetalHosts say of a machine that was seen: whether an administrator declared it, and whether it is approved. Pure. */

import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Host } from "../../netboot/hosts/host.ts";
import type { NamespacePolicy } from "../../netboot/hosts/namespace-policy.ts";
import type { Declaration } from "../../netboot/hosts/trust.ts";
import { APPROVED } from "../hosts/annotations.ts";

/** On hosts that discovery made; those that were declared are never touched by it. */
export const DISCOVERED_LABEL = "slipway.dev/discovered";
/** `true`, or the fingerprint of the agent's key that it holds for. */
export const APPROVED_ANNOTATION = APPROVED;

/** Names that discovery gives (`hostName`). */
const DISCOVERED_NAME = /^host(-[0-9a-f]{2}){6}$/;

/** Whether the object has discovery's label. */
export function isDiscovered({ labels }: { labels?: Readonly<Record<string, string>> }): boolean {
  return labels?.[DISCOVERED_LABEL] !== undefined;
}

/**
 * Whether discovery may have made the object. Its label can be taken off, its name can't: what has a name that discovery gives, where
 * discovery puts its hosts, never counts as declared.
 */
export function isOfDiscovery({ metadata }: Pick<BareMetalHost, "metadata">, namespace: string): boolean {
  return isDiscovered(metadata) || (metadata.namespace === namespace && DISCOVERED_NAME.test(metadata.name));
}

/** The card by which a BareMetalHost is known, in lower case. Cards in its status are what the machine reported itself. */
export function bootMacOf({ spec }: BareMetalHost): string[] {
  // A host may be declared by its name alone.
  const mac = (spec as BareMetalHost["spec"] | undefined)?.bootMACAddress;
  return mac === undefined ? [] : [mac.toLowerCase()];
}

export interface DeclarationPlace {
  /** Where discovery puts its hosts. */
  namespace: string;
  /** What a namespace demands of its hosts. */
  policyOf(namespace: string): NamespacePolicy;
}

/** What `known` declares of a host: the BareMetalHosts with one of its proven cards, and the one with its name. `rivals`: those that declare it twice. */
export function declarationOf(
  { macs }: Pick<Host, "macs">,
  known: readonly BareMetalHost[],
  { namespace, policyOf }: DeclarationPlace,
): { declaration: Declaration; rivals: readonly BareMetalHost[] } {
  const made = known.filter((each) => isOfDiscovery(each, namespace));
  const declared = known.filter((each) => !made.includes(each) && bootMacOf(each).some((mac) => macs.includes(mac)));
  const is = declared.length > 1 ? "twice" : declared.length === 1 ? "declared" : "none";
  const heeded = is === "twice" ? made : [...declared, ...made];
  const approvals = heeded.flatMap(({ metadata }) => metadata.annotations?.[APPROVED_ANNOTATION] ?? []);
  // A key that is demanded anywhere goes before an approval of whatever key.
  const approved = approvals.find((value) => value !== "true") ?? approvals[0];
  // Those of all its objects: whoever makes one more can't make it less.
  const policies = namespacesOf(known).map(policyOf);
  const declaration: Declaration = {
    is,
    ...(approved !== undefined && { approved }),
    ...(policies.some(({ demands }) => demands !== "usual") && { policies }),
  };
  return { declaration, rivals: is === "twice" ? declared : [] };
}

/** Each once, in order: the same whatever comes first. */
function namespacesOf(hosts: readonly BareMetalHost[]): string[] {
  return [...new Set(hosts.flatMap(({ metadata }) => metadata.namespace ?? []))].sort();
}
