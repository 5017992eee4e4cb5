/** The CIDRs and the DNS addresses that a tenant's network profile comes to. Lists have precedence over the deprecated single fields. */
import { formatIp, rangeOf, tryParseCidr } from "@slipway/base";
import { type NetworkProfile, networkProfile } from "./tenant-kubernetes.ts";

const DEFAULTS = networkProfile.parse({});

type Given = Partial<Pick<NetworkProfile, "serviceCidr" | "serviceCidrs" | "podCidr" | "podCidrs">>;

/** The Services' prefixes as they are written, in the order that was given: the first is of the primary IP family (KMJ-2). */
export function serviceCidrsOf(network: Given): string[] {
  return listOf(network.serviceCidrs, network.serviceCidr, DEFAULTS.serviceCidr);
}

/** The Pods' prefixes, as `serviceCidrsOf`. */
export function podCidrsOf(network: Given): string[] {
  return listOf(network.podCidrs, network.podCidr, DEFAULTS.podCidr);
}

/** An empty single field counts as absent, as upstream describes it. */
function listOf(list: readonly string[] | undefined, single: string | undefined, otherwise: string): string[] {
  if (list !== undefined && list.length > 0) return [...list];
  return [single === undefined || single === "" ? otherwise : single];
}

/** The tenth address of an IPv4 prefix, the 16th (0x10) of an IPv6 one: where kubeadm and Kamaji have the DNS service. */
const DNS_OFFSET = { 4: 10n, 6: 0x10n } as const;

/**
 * The DNS service's address in a service prefix, counted from the address that is written in it. Undefined where the prefix does not
 * reach so far, and for what is no prefix.
 */
export function dnsAddressIn(serviceCidr: string): string | undefined {
  const cidr = tryParseCidr(serviceCidr);
  if (cidr === undefined) return undefined;
  const { family, value } = cidr.address;
  const address = value + DNS_OFFSET[family];
  return address <= rangeOf(cidr).last.value ? formatIp({ family, value: address }) : undefined;
}

/** The DNS service's addresses: those that are given, or one in each service prefix. */
export function dnsServiceIPsOf(network: Given & Partial<Pick<NetworkProfile, "dnsServiceIPs">>): string[] {
  if (network.dnsServiceIPs !== undefined && network.dnsServiceIPs.length > 0) return [...network.dnsServiceIPs];
  return serviceCidrsOf(network).flatMap((cidr) => dnsAddressIn(cidr) ?? []);
}
