import { contains, Fault, networkOf, parseCidr } from "@slipway/base";
import type { SubnetConfig } from "./config.ts";
import { Pool } from "./leases/pool.ts";
import * as addresses from "./options/addresses.ts";
import * as routes from "./options/classless-routes.ts";
import { OPTION } from "./options/codes.ts";
import * as search from "./options/domain-search.ts";
import * as numbers from "./options/numbers.ts";
import * as text from "./options/text.ts";
import { type Ipv4, maskOf, parseIpv4 } from "./wire/ipv4.ts";
import type { Options } from "./wire/options-area.ts";

/** The largest pool: it bounds the memory for leases and the time for a search. */
const LARGEST_POOL = 65_536;

/** A network that addresses are given in, checked, with its options ready to send. */
export interface Subnet {
  name: string;
  network: Ipv4;
  mask: Ipv4;
  /** The network's own addresses and the gateway's: never given to a client. */
  infrastructure: ReadonlySet<Ipv4>;
  pool: Pool;
  options: Options;
  leaseMs: number;
  bootLeaseMs: number;
  quarantineMs: number;
  /** Behind one port of a relay. */
  leasesPerPort: number;
}

/** Whether an address is one of this network. */
export function inSubnet({ network, mask }: Subnet, address: Ipv4): boolean {
  return (address & mask) >>> 0 === network;
}

/** Checks the networks and makes them ready. Throws a `Fault` that names the network and what is wrong with it. */
export function compileSubnets(configs: readonly SubnetConfig[]): Subnet[] {
  const subnets = configs.map((config) => {
    try {
      return compile(config);
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw new Fault("Invalid", `subnet ${config.network}`, cause.message, { cause });
    }
  });
  for (const [i, subnet] of subnets.entries()) {
    const other = subnets
      .slice(0, i)
      .find((before) => inSubnet(before, subnet.network) || inSubnet(subnet, before.network));
    if (other !== undefined) throw new Fault("Invalid", `subnet ${subnet.name}`, `it overlaps ${other.name}`);
  }
  return subnets;
}

function compile(config: SubnetConfig): Subnet {
  const cidr = networkOf(parseCidr(config.network));
  if (cidr.address.family !== 4) throw new RangeError("DHCP is for IPv4");
  const network = Number(cidr.address.value);
  const mask = maskOf(cidr.prefix);
  const within = (what: string, address: string): Ipv4 => {
    const value = parseIpv4(address);
    if (!contains(cidr, { family: 4, value: BigInt(value) })) throw new RangeError(`${what} ${address} is not in it`);
    return value;
  };

  const ranges = config.pools.map(({ first, last }) => ({ first: within("pool", first), last: within("pool", last) }));
  for (const [i, { first, last }] of ranges.entries()) {
    const { first: from, last: to } = config.pools[i]!;
    if (last < first) throw new RangeError(`the pool ${from} to ${to} is in the wrong order`);
    if (ranges.some((other, j) => j < i && first <= other.last && other.first <= last))
      throw new RangeError(`the pool ${from} to ${to} overlaps another one`);
  }
  const pool = new Pool(ranges);
  if (pool.size > LARGEST_POOL) throw new RangeError(`pools of ${pool.size} addresses; at most ${LARGEST_POOL}`);

  const gateway = config.gateway === undefined ? undefined : within("gateway", config.gateway);
  const broadcast = (network | ~mask) >>> 0;
  const leaseSeconds = seconds("leaseSeconds", config.leaseSeconds ?? 43_200);
  return {
    name: config.network,
    network,
    mask,
    infrastructure: new Set([network, broadcast, ...(gateway === undefined ? [] : [gateway])]),
    pool,
    options: optionsOf(config, { mask, broadcast, gateway }),
    leaseMs: 1000 * leaseSeconds,
    bootLeaseMs: 1000 * Math.min(leaseSeconds, seconds("bootLeaseSeconds", config.bootLeaseSeconds ?? 600)),
    leasesPerPort: config.leasesPerPort ?? Math.ceil((7 * pool.size) / 8),
    quarantineMs: 1000 * seconds("quarantineSeconds", config.quarantineSeconds ?? 3600),
  };
}

/** In the order of importance: what a full packet loses first stands last. */
function optionsOf(
  config: SubnetConfig,
  { mask, broadcast, gateway }: { mask: Ipv4; broadcast: Ipv4; gateway: Ipv4 | undefined },
): Options {
  const options: Options = new Map([[OPTION.subnetMask, addresses.encode([mask])]]);
  const list = (code: number, all: readonly string[] | undefined): void => {
    if (all !== undefined && all.length > 0) options.set(code, addresses.encode(all.map(parseIpv4)));
  };
  if (gateway !== undefined) options.set(OPTION.routers, addresses.encode([gateway]));
  list(OPTION.nameServers, config.nameServers);
  if (config.domain !== undefined) options.set(OPTION.domainName, text.encode(config.domain));
  options.set(OPTION.broadcastAddress, addresses.encode([broadcast]));
  if (config.routes !== undefined && config.routes.length > 0) {
    const others = config.routes.map(({ network, gateway: router }) => {
      const { address, prefix } = networkOf(parseCidr(network));
      if (address.family !== 4) throw new RangeError(`the route ${network} is not IPv4`);
      return { network: Number(address.value), prefix, router: parseIpv4(router) };
    });
    const all = gateway === undefined ? others : [{ network: 0, prefix: 0, router: gateway }, ...others];
    options.set(OPTION.classlessRoutes, routes.encode(all));
  }
  if (config.mtu !== undefined && !(config.mtu >= 68 && config.mtu <= 65_535))
    throw new RangeError(`mtu ${config.mtu}: 68 to 65535`);
  if (config.mtu !== undefined) options.set(OPTION.mtu, numbers.encodeU16(config.mtu));
  list(OPTION.timeServers, config.timeServers);
  list(OPTION.logServers, config.logServers);
  if (config.searchDomains !== undefined && config.searchDomains.length > 0)
    options.set(OPTION.domainSearch, search.encode(config.searchDomains));
  return options;
}

function seconds(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 10 || value > 0x7fff_ffff)
    throw new RangeError(`${name} ${value}: a whole number of seconds, at least 10`);
  return value;
}
