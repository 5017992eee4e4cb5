/**
 * What a node has of the address pools for one Vino: an address and a MAC for its bridge in each network, the same for each interface of its
 * machines, and a block for DHCP. Takes the pools as they are and gives them as they are to be; whoever writes them does so under their
 * versions. No address is given twice, nor a MAC, over all pools together. Pure.
 */
import { type Cidr, Fault, isFault } from "@slipway/base";
import {
  allocateIps,
  type Bounds,
  type IpPoolSpec,
  ipPoolName,
  readIpPool,
} from "../../ipam/allocator/ip-pool-plan.ts";
import { formatMac, parseMac } from "../../ipam/allocator/mac.ts";
import type { NetworkPlan } from "../plan/specification.ts";
import { block, withoutBlock } from "./blocks.ts";
import { isIn, spanOf, touches } from "./span.ts";

/** The pools by name. `isOwn`: it was made here, and goes with its last address. */
export type Book = ReadonlyMap<string, { spec: IpPoolSpec; isOwn: boolean }>;

export interface Wish {
  /** Who asks. What its machines have begins with it and a slash. */
  owner: string;
  networks: readonly NetworkPlan[];
  /** By network, the interfaces that are to have an address: their owners' names. */
  interfaces: ReadonlyMap<string, readonly string[]>;
  /** Owners that keep what they have beside these: of machines that are not gone yet. */
  keeps(owner: string): boolean;
  /** Whether a node was told of what this owner has. What it was told it keeps. */
  isTold(owner: string): boolean;
}

export interface Address {
  ip: string;
  mac: string;
}

export interface Given {
  /** By network. */
  bridges: Map<string, Address>;
  blocks: Map<string, Bounds>;
  /** By owner. */
  interfaces: Map<string, Address>;
  /** What could not be given, and why. */
  missing: string[];
}

export interface Settled {
  book: Book;
  given: Given;
}

/** Gives what is wished for and takes back the rest of what the owner has. A network that can't be served keeps no other from it. */
export function settle(before: Book, wish: Wish): Settled {
  const given: Given = { bridges: new Map(), blocks: new Map(), interfaces: new Map(), missing: [] };
  const book = new Map(release(before, wish));
  const macs = new Map(
    [...before.values()].flatMap(({ spec }) => spec.allocatedIPs.map((one) => [one.allocatedTo, one.mac])),
  );
  for (const network of wish.networks) {
    try {
      serve(book, network, wish, { given, macs });
    } catch (error) {
      if (!isFault(error, "Invalid", "NoCapacity", "NotFound")) throw error;
      given.missing.push((error as Fault).advice);
    }
  }
  return { book: pruned(book, wish), given };
}

/** The pools without what the owner has and neither asks for there nor keeps, and without addresses that lie outside of what is asked for now. */
function release(book: Book, wish: Wish): Book {
  const asked = new Map(
    wish.networks.flatMap((network) => ownersIn(network, wish).map((of) => [of, network] as const)),
  );
  const stays = (pool: string, of: string, ip?: string): boolean => {
    if (!of.startsWith(`${wish.owner}/`) || wish.keeps(of)) return true;
    const network = asked.get(of);
    return (
      network !== undefined &&
      ipPoolName(network.subnetText) === pool &&
      (ip === undefined || isIn(network.statics, ip))
    );
  };
  return new Map(
    [...book].map(([name, pool]) => {
      const { allocatedIPs, allocatedRanges } = pool.spec;
      const ips = allocatedIPs.filter(({ allocatedTo, ip }) => stays(name, allocatedTo, ip));
      const ranges = allocatedRanges?.filter(({ allocatedTo }) => stays(name, allocatedTo));
      if (ips.length === allocatedIPs.length && ranges?.length === allocatedRanges?.length) return [name, pool];
      const spec = { ...pool.spec, allocatedIPs: ips, ...(ranges && { allocatedRanges: ranges }) };
      return [name, { ...pool, spec }];
    }),
  );
}

const ownersIn = ({ name }: NetworkPlan, { owner, interfaces }: Wish): string[] => [
  bridgeOwner(owner, name),
  ...(interfaces.get(name) ?? []),
];

/** Who has the bridge's address and the block of a network, as pools call it. No host is called `bridge`: their names end in a number. */
export const bridgeOwner = (owner: string, network: string): string => `${owner}/bridge/${network}`;

/** Who has the address of an interface of a host. */
export const ownerIn = (owner: string, host: string, name: string): string => `${owner}/${host}/${name}`;

type Pools = Map<string, { spec: IpPoolSpec; isOwn: boolean }>;

function serve(book: Pools, network: NetworkPlan, wish: Wish, { given, macs }: { given: Given; macs: Macs }): void {
  const name = ipPoolName(network.subnetText);
  const pool = book.get(name) ?? { spec: emptyPool(book, network), isOwn: true };
  if (network.macPrefix !== undefined && pool.spec.macPrefix.toLowerCase() !== network.macPrefix)
    throw new Fault(
      "Invalid",
      `${network.at}.macPrefix`,
      `MAC addresses of ${pool.spec.subnet} begin with ${pool.spec.macPrefix}, which is immutable`,
      { remedy: "write that one, or free all addresses of the subnet first" },
    );
  const ranged = withRange(book, name, pool.isOwn ? withoutOldRanges(pool.spec, network, wish) : pool.spec, network);
  const addressed = addresses(book, name, ranged, { network, wish, given, macs });
  const spec = blocked(book, name, addressed, { network, wish, given });
  if (spec !== pool.spec || !book.has(name)) book.set(name, { ...pool, spec });
}

/** By owner: the MAC address that it had, which it keeps with another address. */
type Macs = ReadonlyMap<string, string>;

interface Serving {
  network: NetworkPlan;
  wish: Wish;
  given: Given;
}

function addresses(
  book: Book,
  name: string,
  spec: IpPoolSpec,
  { network, wish, given, macs }: Serving & { macs: Macs },
): IpPoolSpec {
  const { at, statics } = network;
  const owners = ownersIn(network, wish);
  const held = new Set(spec.allocatedIPs.map(({ allocatedTo }) => allocatedTo));
  const { spec: after, given: found } = allocateIps(spec, owners, statics, macsOf(book, name));
  const macOf = ({ allocatedTo, mac }: { allocatedTo: string; mac: string }): string =>
    held.has(allocatedTo) ? mac : (macs.get(allocatedTo) ?? mac);
  for (const [owner, one] of found) {
    const address = { ip: one.ip, mac: macOf(one) };
    if (owner === bridgeOwner(wish.owner, network.name)) given.bridges.set(network.name, address);
    else given.interfaces.set(owner, address);
  }
  const missing = owners.length - found.size;
  if (missing > 0)
    given.missing.push(
      `${at}: no address of ${statics.start}-${statics.stop} is free for ${missing} of ${owners.length}; enlarge the range, or free addresses`,
    );
  if (after === spec) return spec;
  return {
    ...after,
    allocatedIPs: after.allocatedIPs.map((one) => (found.has(one.allocatedTo) ? { ...one, mac: macOf(one) } : one)),
  };
}

function blocked(book: Book, name: string, spec: IpPoolSpec, { network, wish, given }: Serving): IpPoolSpec {
  const owner = bridgeOwner(wish.owner, network.name);
  if (network.dhcp === undefined) return withoutBlock(spec, owner);
  const others = [...book].flatMap(([other, pool]) => (other === name ? [] : [pool.spec]));
  const found = block(spec, { owner, ...network.dhcp }, others);
  if (found.block !== undefined) given.blocks.set(network.name, found.block);
  else
    given.missing.push(
      `${network.at}: no block of ${1 << network.dhcp.bits} addresses is free for DHCP; enlarge the range, or make blocks smaller`,
    );
  return found.spec;
}

/** A pool for the subnet. Its MAC addresses begin where no other pool's do. */
function emptyPool(book: Book, { subnetText, macPrefix }: NetworkPlan): IpPoolSpec {
  const prefix = macPrefix ?? freePrefix(book);
  return { subnet: subnetText, ranges: [], allocatedIPs: [], macPrefix: prefix, nextMAC: prefix };
}

/** The first of 02:00:00:…, 02:00:01:… that no pool begins with or has addresses of: each is room for 2^24 machines. */
function freePrefix(book: Book): string {
  const taken = new Set<string>();
  for (const { spec } of book.values())
    for (const mac of [spec.macPrefix, spec.nextMAC, ...spec.allocatedIPs.map((one) => one.mac)])
      taken.add(mac.slice(0, 8).toLowerCase());
  for (let n = 0; ; n++) {
    const prefix = formatMac((0x02n << 40n) | (BigInt(n) << 24n));
    if (!taken.has(prefix.slice(0, 8))) return prefix;
  }
}

function macsOf(book: Book, but: string): Set<bigint> {
  const out = new Set<bigint>();
  for (const [name, { spec }] of book)
    if (name !== but) for (const { mac } of spec.allocatedIPs) out.add(parseMac(mac, `IPPool ${name}`));
  return out;
}

/** The pool without ranges that the network's takes the place of: they overlap it, and nobody but the same Vino has addresses there. */
function withoutOldRanges(spec: IpPoolSpec, { statics }: NetworkPlan, { owner }: Wish): IpPoolSpec {
  const vino = owner.slice(0, owner.lastIndexOf("/") + 1);
  const own = spanOf(statics);
  const ranges = spec.ranges.filter((range) => {
    const isSame = range.start === statics.start && range.stop === statics.stop;
    if (isSame || !touches(own, spanOf(range))) return true;
    return spec.allocatedIPs.some(({ allocatedTo, ip }) => !allocatedTo.startsWith(vino) && isIn(range, ip));
  });
  return ranges.length === spec.ranges.length ? spec : { ...spec, ranges };
}

/** The pool with the network's range. Throws where it overlaps what other ranges or blocks have. */
function withRange(book: Book, name: string, spec: IpPoolSpec, { at, statics, subnet }: NetworkPlan): IpPoolSpec {
  const own = spanOf(statics);
  for (const [other, pool] of new Map([...book, [name, { spec, isOwn: true }]])) {
    for (const range of pool.spec.ranges) {
      const isSame = other === name && range.start === statics.start && range.stop === statics.stop;
      if (!isSame && touches(own, spanOf(range)))
        throw overlap(at, statics, `${range.start}-${range.stop} of IPPool ${other}`);
    }
    for (const range of pool.spec.allocatedRanges ?? [])
      if (touches(own, spanOf(range)))
        throw overlap(at, statics, `${range.start}-${range.stop}, which ${range.allocatedTo} has for DHCP`);
  }
  refuseOtherSize(book, name, subnet, at);
  if (spec.ranges.some(({ start, stop }) => start === statics.start && stop === statics.stop)) return spec;
  const after = { ...spec, ranges: [...spec.ranges, { start: statics.start, stop: statics.stop }] };
  readIpPool(after);
  return after;
}

/** One subnet written in two ways would be two pools that know nothing of each other's gateways and prefixes. */
function refuseOtherSize(book: Book, name: string, subnet: Cidr, at: string): void {
  const mine = book.get(name)?.spec.subnet;
  if (mine !== undefined && parseSubnet(mine) !== subnet.prefix)
    throw new Fault("Invalid", `${at}.subnet`, `IPPool ${name} is of ${mine}`, {
      remedy: "name the subnet as it does",
    });
}

const parseSubnet = (text: string): number => Number(text.split("/")[1]);

const overlap = (at: string, { start, stop }: Bounds, what: string): Fault =>
  new Fault("Invalid", at, `${start}-${stop} overlaps ${what}`, { remedy: "give each address to one range" });

/** Own pools without ranges that nobody has an address of. */
function pruned(book: Pools, { networks }: Wish): Book {
  const wanted = new Set(
    networks.map(({ subnetText, statics }) => `${ipPoolName(subnetText)} ${statics.start}-${statics.stop}`),
  );
  return new Map(
    [...book].map(([name, pool]) => {
      if (!pool.isOwn) return [name, pool];
      const ranges = pool.spec.ranges.filter((range) => {
        if (wanted.has(`${name} ${range.start}-${range.stop}`)) return true;
        return pool.spec.allocatedIPs.some(({ ip }) => isIn(range, ip));
      });
      return [name, ranges.length === pool.spec.ranges.length ? pool : { ...pool, spec: { ...pool.spec, ranges } }];
    }),
  );
}

/** Whether no address and no block of the pool is given to anybody. */
export const isUnused = ({ allocatedIPs, allocatedRanges }: IpPoolSpec): boolean =>
  allocatedIPs.length === 0 && (allocatedRanges ?? []).length === 0;
