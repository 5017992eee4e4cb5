import { addIp, contains, formatIp, networkOf, parseCidr, parseIp, rangeOf } from "@slipway/base";
import type { Family, ServiceRanges } from "../builtin/service-allocation.ts";
import { objectsAt, textsAt } from "../model/read.ts";
import type { Body } from "../model/served.ts";
import type { Store } from "../storage/store.ts";

/** Addresses of Services unless said. */
export const SERVICE_CIDR = "10.96.0.0/16";
/** A larger range is used as far as this. */
const MOST_ADDRESSES = 65_536;
const FIRST_PORT = 30_000;
const LAST_PORT = 32_767;

/**
 * Cluster IPs from a range of each family, the cluster's own family first; the first ten addresses are left to the cluster itself. Node ports from 30000 to 32767. Throws
 * for what is no CIDR.
 */
export function serviceRanges(store: Store, cidrs: readonly string[] = [SERVICE_CIDR]): ServiceRanges {
  let nextPort = FIRST_PORT;
  const others = (service: Body): Body[] =>
    Array.from(store.collection("/services").range("", ""), ([, other]) => other).filter(
      ({ metadata }) => metadata.name !== service.metadata.name || metadata.namespace !== service.metadata.namespace,
    );
  const ranges = cidrs.map((cidr) => addressRange(cidr, others));
  return {
    families: ranges.map(({ family }) => family),
    address: (family, wanted, service) => ranges.find((range) => range.family === family)!.address(wanted, service),
    port(wanted, service) {
      const taken = new Set(others(service).flatMap((other) => objectsAt(other, "spec.ports").map((p) => p.nodePort)));
      if (wanted !== undefined) return wantedPort(wanted, taken);
      for (let tried = FIRST_PORT; tried <= LAST_PORT; tried++) {
        const port = nextPort;
        nextPort = nextPort < LAST_PORT ? nextPort + 1 : FIRST_PORT;
        if (!taken.has(port)) return { is: port };
      }
      return { refused: "range is full" };
    },
  };
}

function wantedPort(wanted: number, taken: ReadonlySet<unknown>): { is: number } | { refused: string } {
  const valid = `${FIRST_PORT}-${LAST_PORT}`;
  if (wanted < FIRST_PORT || wanted > LAST_PORT)
    return { refused: `provided port is not in the valid range. The range of valid ports is ${valid}` };
  return taken.has(wanted) ? { refused: "provided port is already allocated" } : { is: wanted };
}

type Address = (wanted: string | undefined, service: Body) => { is: string } | { refused: string };

function addressRange(cidr: string, others: (service: Body) => Body[]): { family: Family; address: Address } {
  const range = networkOf(parseCidr(cidr));
  const { first, last } = rangeOf(range);
  const width = last.value - first.value + 1n;
  const size = width < BigInt(MOST_ADDRESSES) ? Number(width) : MOST_ADDRESSES;
  const begin = Math.min(10, size - 1);
  let nextAddress = begin;
  const wantedAddress = (wanted: string, taken: ReadonlySet<string>): ReturnType<Address> => {
    if (!contains(range, parseIp(wanted)))
      return { refused: `the provided IP (${wanted}) is not in the valid range. The range of valid IPs is ${cidr}` };
    return taken.has(wanted) ? { refused: "provided IP is already allocated" } : { is: wanted };
  };
  return {
    family: `IPv${range.address.family}`,
    address(wanted, service) {
      const taken = new Set(others(service).flatMap((other) => textsAt(other, "spec.clusterIPs")));
      if (wanted !== undefined) return wantedAddress(wanted, taken);
      for (let tried = 0; tried < size; tried++) {
        const address = formatIp(addIp(first, BigInt(nextAddress)));
        nextAddress = nextAddress + 1 < size - 1 ? nextAddress + 1 : begin;
        if (!taken.has(address)) return { is: address };
      }
      return { refused: "range is full" };
    },
  };
}
