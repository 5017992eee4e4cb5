/** What a node must have for a Vino, of its specification and the addresses it was given. Pure. */
import type { Vino } from "../../../kinds/vino/vino.ts";
import type { Domain, VinoNode, VinoNodeSpec } from "../../../kinds/vino/vino-node.ts";
import { type Given, ownerIn } from "../addresses/book.ts";
import { credentialsName, domainName, hostName, ownerOf, uuidOf, vncName } from "../names.ts";
import { isMaster, type Machine, type NetworkPlan, type Specification } from "./specification.ts";

export const STORAGE_POOL = { name: "vino-default", path: "/var/lib/libvirt/vino-pool" } as const;

const FIRMWARE = { UEFI: "uefi", UEFISecureBoot: "uefi-secure-boot", legacy: "bios" } as const;

export type Network = VinoNodeSpec["networks"][number];

/** An interface of a machine, as IPPools call it. */
export const interfaceOwner = (vino: Vino, node: string, machine: string, name: string): string =>
  ownerIn(ownerOf(vino.metadata, node), hostName(vino, node, machine), name);

/** By network: who needs an address of it. */
export function interfacesOf(vino: Vino, node: string, machines: readonly Machine[]): Map<string, string[]> {
  const out = new Map<string, string[]>();
  for (const { id, interfaces } of machines)
    for (const { name, network } of interfaces)
      out.set(network, [...(out.get(network) ?? []), interfaceOwner(vino, node, id, name)]);
  return out;
}

/** The network on the node; undefined: it has no address yet. */
export function networkOn(
  { name, bridge, physicalInterface, subnet, source, dhcp }: NetworkPlan,
  { bridges, blocks }: Given,
  { bootUrl }: Specification,
): Network | undefined {
  const address = bridges.get(name);
  const block = blocks.get(name);
  if (address === undefined || (dhcp !== undefined && block === undefined)) return undefined;
  const dnsServers = source.dns_servers ?? [];
  return {
    ...{ name, bridge, mac: address.mac, addresses: [`${address.ip}/${subnet.prefix}`] },
    ...(physicalInterface !== undefined && { physicalInterface }),
    ...(block !== undefined && { dhcp: { start: block.start, stop: block.stop } }),
    ...(dnsServers.length > 0 && { dnsServers: [...dnsServers] }),
    ...(block !== undefined && bootUrl !== undefined && { bootUrl }),
  };
}

/** The machine on the node; undefined: not all of its interfaces have an address yet. */
function domainOn(
  vino: Vino,
  node: string,
  machine: Machine,
  { given, specification: { networks } }: Pick<NodeWish, "given" | "specification">,
): Domain | undefined {
  const { id, set } = machine;
  const host = hostName(vino, node, id);
  const interfaces: Domain["interfaces"] = [];
  for (const { name, network, mtu } of machine.interfaces) {
    const address = given.interfaces.get(interfaceOwner(vino, node, id, name));
    const prefix = networks.find((each) => each.name === network)?.subnet.prefix;
    if (address === undefined || prefix === undefined) return undefined;
    interfaces.push({
      name,
      network,
      mac: address.mac,
      address: `${address.ip}/${prefix}`,
      ...(mtu !== undefined && { mtu }),
    });
  }
  const name = domainName(vino, host, id);
  const bootMAC = interfaces.find((each) => each.name === machine.bootInterface)?.mac;
  return {
    ...{ name, uuid: uuidOf(vino.metadata.uid, node, id), host, role: set.name },
    vcpus: set.vcpus ?? 1,
    memoryMiB: set.memoryMiB ?? (isMaster(set.name) ? 4096 : 2048),
    pinned: set.pinned ?? true,
    hugepages: set.hugepages ?? false,
    firmware: FIRMWARE[set.bootMode ?? "UEFI"],
    disks: machine.disks.map((disk) => ({ volume: `${name}-${disk.device}`, ...disk })),
    interfaces,
    ...(bootMAC !== undefined && { bootMAC }),
    bmc: { name: credentialsName(host) },
    ...(set.enableVNC === true && { vnc: { name: vncName(host) } }),
  };
}

export interface NodeWish {
  vino: Vino | undefined;
  node: VinoNode;
  specification: Specification;
  given: Given;
  /** Hosts that are still there: their domains stay. */
  hosts: ReadonlySet<string>;
}

/**
 * The node's whole specification. What can't be made as wished (no address is free) stays as it was; a domain whose host is still there stays until
 * the host is gone.
 */
export function nodeSpec({ vino, node, specification, given, hosts }: NodeWish): VinoNodeSpec {
  const { nodeName, domains: before, networks: beforeNetworks } = node.spec;
  const wanted = vino === undefined ? [] : specification.machines;
  const names = new Set(vino === undefined ? [] : wanted.map(({ id }) => hostName(vino, nodeName, id)));
  const made = wanted.flatMap((machine) => {
    const own = hostName(vino!, nodeName, machine.id);
    return (
      domainOn(vino!, nodeName, machine, { given, specification }) ?? before.find(({ host }) => host === own) ?? []
    );
  });
  const leaving = before.filter(({ host }) => hosts.has(host) && !names.has(host));
  const domains = [...made, ...leaving];
  const own = specification.networks.flatMap(
    (network) =>
      networkOn(network, given, specification) ?? beforeNetworks.find(({ name }) => name === network.name) ?? [],
  );
  const used = new Set(domains.flatMap((domain) => domain.interfaces.map(({ network }) => network)));
  const kept = beforeNetworks.filter(({ name }) => used.has(name) && !own.some((each) => each.name === name));
  const cpuExclude = vino?.spec.configuration?.cpuExclude || undefined;
  return {
    nodeName,
    ...(cpuExclude !== undefined && { cpuExclude }),
    storagePool: { ...STORAGE_POOL },
    networks: [...own, ...kept],
    domains,
  };
}
