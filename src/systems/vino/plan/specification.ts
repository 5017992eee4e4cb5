/** A Vino's specification, read and checked: each field has an effect, is refused with its path, or is named as ignored. Pure. */
import {
  type Cidr,
  contains,
  Fault,
  formatIp,
  isMac,
  overlaps,
  parseIp,
  tryParseCidr,
  tryParseIp,
} from "@slipway/base";
import type { NodeSet, Vino, VinoNetwork } from "../../../kinds/vino/vino.ts";
import type { Bounds } from "../../ipam/allocator/ip-pool-plan.ts";

export interface NetworkPlan {
  /** Where it stands: spec.networks[0]. */
  at: string;
  name: string;
  /** As the user wrote it. */
  subnetText: string;
  subnet: Cidr;
  /** What bridges and interfaces have their addresses of. */
  statics: Bounds;
  /** What nodes have their blocks for DHCP of, and two to which power addresses a block has. */
  dhcp: { bounds: Bounds; bits: number } | undefined;
  macPrefix: string | undefined;
  bridge: string;
  physicalInterface: string | undefined;
  source: VinoNetwork;
}

/** One machine of each node. */
export interface Machine {
  /** Name of its set, and its number: worker-0. */
  id: string;
  set: NodeSet & { name: string };
  interfaces: readonly { name: string; network: string; mtu: number | undefined; options: Record<string, string> }[];
  bootInterface: string | undefined;
  disks: readonly { device: string; sizeGiB: number; sparse: boolean }[];
}

export interface Specification {
  networks: readonly NetworkPlan[];
  machines: readonly Machine[];
  bootUrl: string | undefined;
}

const DEFAULT_BRIDGE = "vm-infra-bridge";
const DEFAULT_BITS = 4;
/** Of all sets of a node together. */
const MOST_MACHINES = 256;
const DEVICE = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$/;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/i;

/** Whether the role is one of a control plane: those are larger unless something else is said. */
export const isMaster = (role: string): boolean => /^(master|control-?plane)/i.test(role);

const refuse = (at: string, why: string, remedy?: string): never => {
  throw new Fault("Invalid", at, why, remedy === undefined ? {} : { remedy });
};

/** Reads a specification. Throws a `Fault` (`Invalid`) with the path of the first field that can't be. */
export function readSpecification({ spec }: Vino): Specification {
  const networks = (spec.networks ?? []).map((network, i) => readNetwork(network, `spec.networks[${i}]`));
  refuseTwice(networks.map(({ name, at }) => [name, `${at}.name`]));
  refuseTwice(networks.map(({ bridge, at }) => [bridge, `${at}.bridgeName`]));
  for (const [i, network] of networks.entries()) for (const other of networks.slice(0, i)) refuseShared(network, other);
  const sets = (spec.nodes ?? []).map((set, i) => readSet(set, `spec.nodes[${i}]`, networks));
  refuseTwice((spec.nodes ?? []).map(({ name = "" }, i) => [name, `spec.nodes[${i}].name`]));
  const machines = sets.flat();
  if (machines.length > MOST_MACHINES)
    refuse("spec.nodes", `${machines.length} machines on each node are more than ${MOST_MACHINES}`);
  const excluded = spec.configuration?.cpuExclude;
  if (excluded && !/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(excluded))
    refuse("spec.configuration.cpuExclude", `${JSON.stringify(excluded)} is no list of cores`, "write it as 0-4,54-60");
  return { networks, machines, bootUrl: bootUrlOf(spec) };
}

function bootUrlOf({ pxeBootImageHost: host, pxeBootImageHostPort: port = 80 }: Vino["spec"]): string | undefined {
  if (!host) return undefined;
  if (!/^[A-Za-z0-9.:-]+$/.test(host)) refuse("spec.pxeBootImageHost", "it is no name or address of a host");
  if (port < 1 || port > 65_535) refuse("spec.pxeBootImageHostPort", `${port} is no port`);
  return `http://${tryParseIp(host)?.family === 6 ? `[${host}]` : host}:${port}/dualboot.ipxe`;
}

function refuseTwice(texts: readonly (readonly [text: string, at: string])[]): void {
  const seen = new Set<string>();
  for (const [text, at] of texts) {
    if (seen.has(text)) refuse(at, `${JSON.stringify(text)} is there twice`);
    seen.add(text);
  }
}

function readNetwork(network: VinoNetwork, at: string): NetworkPlan {
  const {
    name = "",
    subnet: subnetText = "",
    staticAllocationStart: start = "",
    staticAllocationStop: stop = "",
  } = network;
  if (!NAME.test(name) || name.length > 40)
    refuse(`${at}.name`, `${JSON.stringify(name)} is no name`, "use at most 40 letters, digits and hyphens");
  const subnet =
    tryParseCidr(subnetText) ??
    refuse(`${at}.subnet`, `${JSON.stringify(subnetText)} is no network`, "write it as 192.168.2.0/20");
  const statics = boundsIn(subnet, { start, stop }, [`${at}.staticAllocationStart`, `${at}.staticAllocationStop`]);
  const dhcp = readDhcp(network, subnet, at);
  if (dhcp !== undefined && isShared(dhcp.bounds, statics))
    refuse(`${at}.dhcpAllocationStart`, "addresses of DHCP are among the static ones");
  const bridge = network.bridgeName || DEFAULT_BRIDGE;
  if (!DEVICE.test(bridge))
    refuse(
      `${at}.bridgeName`,
      `${JSON.stringify(bridge)} can't be a bridge`,
      "use at most 15 letters, digits, dots, underscores and hyphens",
    );
  const physicalInterface = network.physicalInterface || undefined;
  if (physicalInterface !== undefined && !DEVICE.test(physicalInterface))
    refuse(`${at}.physicalInterface`, `${JSON.stringify(physicalInterface)} can't be a network device`);
  const macPrefix = readMacPrefix(network, at);
  for (const [i, server] of (network.dns_servers ?? []).entries())
    if (tryParseIp(server) === undefined) refuse(`${at}.dns_servers[${i}]`, `${JSON.stringify(server)} is no address`);
  return {
    ...{ at, name, subnetText, subnet, statics, dhcp, bridge, physicalInterface },
    ...{ macPrefix, source: network },
  };
}

function readMacPrefix({ macPrefix }: VinoNetwork, at: string): string | undefined {
  if (!macPrefix) return undefined;
  if (!isMac(macPrefix) || (Number.parseInt(macPrefix.slice(0, 2), 16) & 1) === 1)
    refuse(
      `${at}.macPrefix`,
      `${JSON.stringify(macPrefix)} is no MAC address of a machine`,
      "write six bytes such as 02:00:00:00:00:00",
    );
  return macPrefix.toLowerCase();
}

function readDhcp(network: VinoNetwork, subnet: Cidr, at: string): NetworkPlan["dhcp"] {
  const { dhcpAllocationStart: start, dhcpAllocationStop: stop, instanceSubnetBitStep: bits = DEFAULT_BITS } = network;
  if (!start && !stop) return undefined;
  const bounds = { start: start ?? "", stop: stop ?? "" };
  boundsIn(subnet, bounds, [`${at}.dhcpAllocationStart`, `${at}.dhcpAllocationStop`]);
  if (bits < 0 || bits > 16) refuse(`${at}.instanceSubnetBitStep`, `${bits} is not from 0 to 16`);
  return { bounds, bits };
}

function boundsIn(subnet: Cidr, { start, stop }: Bounds, at: readonly [string, string]): Bounds {
  const [first, last] = [start, stop].map((text, i) => {
    const ip = tryParseIp(text) ?? refuse(at[i]!, `${JSON.stringify(text)} is no address`);
    return contains(subnet, ip) ? ip : refuse(at[i]!, `${text} is not in the subnet`);
  });
  if (last!.value < first!.value) refuse(at[1], `${stop} is before ${start}`);
  return { start, stop };
}

function isShared(one: Bounds, other: Bounds): boolean {
  const [a, b] = [one, other].map(({ start, stop }) => [parseIp(start), parseIp(stop)] as const);
  return a![0].family === b![0].family && a![0].value <= b![1].value && b![0].value <= a![1].value;
}

/** Networks of one Vino may share a subnet, and no address. */
function refuseShared(network: NetworkPlan, other: NetworkPlan): void {
  if (!overlaps(network.subnet, other.subnet)) return;
  if (network.subnetText !== other.subnetText)
    refuse(`${network.at}.subnet`, `it overlaps ${other.at}.subnet`, "write the same subnet for both, or others");
  const parts = (of: NetworkPlan) => [of.statics, ...(of.dhcp ? [of.dhcp.bounds] : [])];
  for (const one of parts(network))
    for (const two of parts(other))
      if (isShared(one, two) && !(one === network.statics && two === other.statics && isSame(one, two)))
        refuse(
          network.at,
          `${one.start}-${one.stop} and ${two.start}-${two.stop} of ${other.at} have addresses in common`,
        );
  if (network.macPrefix !== undefined && other.macPrefix !== undefined && network.macPrefix !== other.macPrefix)
    refuse(`${network.at}.macPrefix`, `${other.at} has another for the same subnet`);
}

const isSame = (a: Bounds, b: Bounds): boolean => a.start === b.start && a.stop === b.stop;

function readSet(set: NodeSet, at: string, networks: readonly NetworkPlan[]): Machine[] {
  const { name = "", count = 0 } = set;
  if (!NAME.test(name) || name.length > 40)
    refuse(`${at}.name`, `${JSON.stringify(name)} is no name`, "use at most 40 letters, digits and hyphens");
  if (count < 0) refuse(`${at}.count`, `${count} is less than none`);
  const interfaces = (set.networkInterfaces ?? []).map(({ name: own = "", network = "", type, mtu, options }, i) => {
    const here = `${at}.networkInterfaces[${i}]`;
    if (own === "" || own.length > 64) refuse(`${here}.name`, "it has no name of at most 64 letters");
    if (type && type !== "network") refuse(`${here}.type`, `${JSON.stringify(type)} is not served`, "use network");
    if (!networks.some((each) => each.name === network))
      refuse(
        `${here}.network`,
        `there is no network ${JSON.stringify(network)}`,
        `networks are: ${networks.map((each) => each.name).join(", ") || "none"}`,
      );
    if (mtu !== undefined && mtu !== 0 && (mtu < 68 || mtu > 65_535))
      refuse(`${here}.mtu`, `${mtu} is not from 68 to 65535`);
    return { name: own, network, mtu: mtu || undefined, options: options ?? {} };
  });
  refuseTwice(interfaces.map((each, i) => [each.name, `${at}.networkInterfaces[${i}].name`]));
  const boot = set.bootInterfaceName || interfaces[0]?.name;
  if (boot !== undefined && !interfaces.some((each) => each.name === boot))
    refuse(`${at}.bootInterfaceName`, `there is no interface ${JSON.stringify(boot)}`);
  const disks = disksOf(set, at);
  const named = { ...set, name };
  return Array.from({ length: count }, (_, i) => ({
    ...{ id: `${name}-${i}`, set: named, interfaces, bootInterface: boot, disks },
  }));
}

function disksOf(set: NodeSet, at: string): Machine["disks"] {
  const usual = isMaster(set.name ?? "") ? 30 : 10;
  const drives = set.diskDrives?.length ? set.diskDrives : [{}];
  if (drives.length > 24) refuse(`${at}.diskDrives`, `${drives.length} disks are more than 24`);
  const disks = drives.map(({ name, options }, i) => {
    const device = name || `vd${String.fromCharCode(97 + i)}`;
    const here = `${at}.diskDrives[${i}]`;
    if (!/^[a-z0-9]{1,16}$/.test(device))
      refuse(`${here}.name`, `${JSON.stringify(device)} can't be a disk`, "use vda, vdb and so on");
    const sizeGiB = options?.sizeGb ?? usual;
    if (sizeGiB < 1 || sizeGiB > 65_536) refuse(`${here}.options.sizeGb`, `${sizeGiB} is not from 1 to 65536`);
    return { device, sizeGiB, sparse: options?.sparse ?? true };
  });
  refuseTwice(disks.map(({ device }, i) => [device, `${at}.diskDrives[${i}].name`]));
  return disks;
}

/** Fields that are there and have no effect, for the user to know. */
export function ignoredFields({ spec }: Vino): string[] {
  const out: string[] = [];
  const add = (isThere: unknown, at: string): void => {
    if (isThere !== undefined && isThere !== "") out.push(at);
  };
  for (const [name, value] of Object.entries(spec.daemonSetOptions ?? {})) add(value, `spec.daemonSetOptions.${name}`);
  add(spec.bmcCredentials?.password, "spec.bmcCredentials.password");
  for (const [i, network] of (spec.networks ?? []).entries())
    add(network.libvirtTemplate, `spec.networks[${i}].libvirtTemplate`);
  for (const [i, set] of (spec.nodes ?? []).entries()) {
    add(set.libvirtTemplate, `spec.nodes[${i}].libvirtTemplate`);
    for (const [k, { type, path }] of (set.diskDrives ?? []).entries()) {
      if (type !== "qcow2") add(type, `spec.nodes[${i}].diskDrives[${k}].type`);
      add(path, `spec.nodes[${i}].diskDrives[${k}].path`);
    }
  }
  return out;
}

/** The netmask of a network of any family, as network data has it. */
export function netmaskOf(subnet: Cidr): string {
  const bits = subnet.address.family === 4 ? 32 : 128;
  const value = ((1n << BigInt(bits)) - 1n) ^ ((1n << BigInt(bits - subnet.prefix)) - 1n);
  return formatIp({ family: subnet.address.family, value });
}
