/** What is wrong with a tenant's prefixes, addresses and names. */
import { type Cidr, contains, formatIp, overlaps, rangeOf, tryParseCidr, tryParseIp } from "@slipway/base";
import { dnsAddressIn, podCidrsOf, serviceCidrsOf } from "./network.ts";
import { type Problem, quoted } from "./problem.ts";
import type { NetworkProfile } from "./tenant-kubernetes.ts";

/** A prefix with the field that has it. */
interface Written {
  field: string;
  text: string;
  cidr: Cidr | undefined;
}

function written(list: "serviceCidrs" | "podCidrs", network: Partial<NetworkProfile>): Written[] {
  const single = list === "serviceCidrs" ? "serviceCidr" : "podCidr";
  const texts = list === "serviceCidrs" ? serviceCidrsOf(network) : podCidrsOf(network);
  const isList = (network[list] ?? []).length > 0;
  return texts.map((text, at) => ({
    field: `spec.networkProfile.${isList ? `${list}[${at}]` : single}`,
    text,
    cidr: tryParseCidr(text),
  }));
}

/** Single fields that a list replaces: they have no effect, and still must be empty or a prefix. */
function replaced(network: Partial<NetworkProfile>): Written[] {
  const singles = [
    ...(network.serviceCidrs?.length ? [["serviceCidr", network.serviceCidr] as const] : []),
    ...(network.podCidrs?.length ? [["podCidr", network.podCidr] as const] : []),
  ];
  return singles.flatMap(([field, text]) =>
    text ? { field: `spec.networkProfile.${field}`, text, cidr: tryParseCidr(text) } : [],
  );
}

/** Prefixes that are none, two of one family, and any that share an address. */
export function cidrProblems(network: Partial<NetworkProfile>): Problem[] {
  const services = written("serviceCidrs", network);
  const pods = written("podCidrs", network);
  const all = [...services, ...pods];
  const unread = [...all, ...replaced(network)].filter(({ cidr }) => cidr === undefined);
  return [
    ...unread.map(({ field, text }) => ({
      field,
      message: `${quoted(text)} is no CIDR: write an address, a slash and a prefix length, such as 10.96.0.0/16`,
    })),
    ...[services, pods].flatMap(sameFamily),
    ...all.flatMap((one, at) => all.slice(0, at).flatMap((other) => overlapOf(one, other))),
  ];
}

/** Kubernetes takes two prefixes only as one of each family. */
function sameFamily([first, second]: readonly Written[]): Problem[] {
  if (first?.cidr === undefined || second?.cidr === undefined) return [];
  const { family } = second.cidr.address;
  if (first.cidr.address.family !== family) return [];
  const message = `${second.text} is IPv${family} as ${first.text} is: keep one of them, or add one of IPv${family === 4 ? 6 : 4}`;
  return [{ field: second.field, message }];
}

function overlapOf(one: Written, other: Written): Problem[] {
  if (one.cidr === undefined || other.cidr === undefined || !overlaps(one.cidr, other.cidr)) return [];
  const message = `${one.text} overlaps ${other.text} of ${other.field}: choose prefixes that share no address`;
  return [{ field: one.field, message }];
}

/** DNS addresses outside of the service prefixes, or none where none can be chosen. */
export function dnsProblems(network: Partial<NetworkProfile>): Problem[] {
  const services = written("serviceCidrs", network);
  const given = network.dnsServiceIPs ?? [];
  if (given.length === 0) return services.flatMap(noDnsAddress);
  const first = services[0]?.cidr && addressOfKubernetes(services[0].cidr);
  return given.flatMap((text, at) => {
    const field = `spec.networkProfile.dnsServiceIPs[${at}]`;
    const ip = tryParseIp(text);
    if (ip === undefined) return { field, message: `${quoted(text)} is no IP address: write one such as 10.96.0.10` };
    if (!services.some(({ cidr }) => cidr !== undefined && contains(cidr, ip))) {
      const where = services.map((one) => one.text).join(" and ");
      return {
        field,
        message: `${text} is not in ${where}: choose an address inside, or remove it to have one chosen`,
      };
    }
    if (formatIp(ip) !== first) return [];
    return { field, message: `${text} is the address of the Service kubernetes: choose another` };
  });
}

/** The first usable address of the primary service prefix. */
function addressOfKubernetes(cidr: Cidr): string {
  const { first } = rangeOf(cidr);
  return formatIp({ ...first, value: first.value + 1n });
}

function noDnsAddress({ field, text, cidr }: Written): Problem[] {
  if (cidr === undefined || dnsAddressIn(text) !== undefined) return [];
  return [{ field, message: `${text} has no room for the usual DNS address: set dnsServiceIPs, or a larger prefix` }];
}

/** A DNS name, the first label a wildcard or not. */
const DNS_NAME = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/i;

/** Names for the certificate that are neither DNS names nor addresses, most often for a port behind them. */
export function certSanProblems(names: readonly string[]): Problem[] {
  return names.flatMap((name, at) => {
    if (tryParseIp(name) !== undefined || (name.length <= 253 && DNS_NAME.test(name))) return [];
    const bare = name.replace(/:[0-9]*$/, "").replace(/^\[(.*)\]$/, "$1");
    const isRepaired = bare !== name && (tryParseIp(bare) !== undefined || DNS_NAME.test(bare));
    const remedy = isRepaired
      ? `has no place for a port or brackets: write ${bare}`
      : "is no DNS name and no IP address";
    return { field: `spec.networkProfile.certSANs[${at}]`, message: `${quoted(name)} ${remedy}` };
  });
}
