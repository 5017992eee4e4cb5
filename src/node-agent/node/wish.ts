/** What the VinoNodes of one node want of it, put together: shared bridges and pools are one, and what contradicts itself is named. Pure. */
import { createHash } from "node:crypto";
import { asFault, type Cidr, contains, tryParseCidr, tryParseIp } from "@slipway/base";
import type { Domain, VinoNode } from "../../kinds/vino/vino-node.ts";
import { parseCpuSet } from "../xml/cpu-set.ts";
import { type NetworkDefinition, networkXml } from "../xml/network.ts";
import type { Origin } from "../xml/record.ts";

export interface PoolWish {
  name: string;
  uuid: string;
  path: string;
}

/** A bridge with all that VinoNodes want of it. `mac`: of the first. */
export interface NetworkWish extends Omit<NetworkDefinition, "record"> {
  physicalInterfaces: readonly string[];
}

export interface DomainWish extends Domain {
  /** The VinoNode: namespace/name. */
  owner: string;
  origin: Origin;
  pool: string;
  /** libvirt's networks of its interfaces, in their order. */
  cards: readonly string[];
  /** Of its screen. `version` changes with it, and says nothing about it. */
  screen?: { password: string; version: string };
}

/** What is wrong, by what it is about (`subject`). */
export type Problems = ReadonlyMap<string, string>;

export interface NodeWish {
  /** Cores that nobody may have. */
  excluded: readonly number[];
  pools: readonly PoolWish[];
  networks: readonly NetworkWish[];
  /** Bridges that are named at all, also where something is wrong with them. */
  bridges: ReadonlySet<string>;
  domains: readonly DomainWish[];
  /** Namespace that the VinoNodes are of; undefined: any. Domains of others are not missed. */
  scope?: string;
  /** VinoNodes that are there, also emptied ones, by namespace/name. */
  origins: ReadonlyMap<string, Origin>;
  /** Codes of stops (`guard`) that somebody has confirmed. */
  confirmations: ReadonlySet<string>;
  problems: Problems;
}

/** A Secret as far as it is needed. */
export interface SecretRead {
  version: string;
  data: Readonly<Record<string, string>>;
}

/** Secrets by namespace/name; one that is missing is not in it. */
export type SecretsRead = ReadonlyMap<string, SecretRead>;

/** What a problem is about. */
export const subject = {
  node: (owner: string) => `node ${owner}`,
  pool: (name: string) => `pool ${name}`,
  bridge: (name: string) => `bridge ${name}`,
  /** A network of one VinoNode. */
  network: (owner: string, name: string) => `network ${owner} ${name}`,
  domain: (owner: string, name: string) => `domain ${owner} ${name}`,
} as const;

/** namespace/name of a VinoNode. */
export function ownerOf({ metadata }: Pick<VinoNode, "metadata">): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** libvirt's network of a bridge. */
export function networkName(bridge: string): string {
  return `slipway-${bridge}`;
}

/** A UUID that says that something is the agent's: the same for the same words at any time. */
export function markedUuid(...words: readonly string[]): string {
  const hex = createHash("sha256")
    .update(JSON.stringify(["slipway", ...words]))
    .digest("hex");
  const [a, b, c, d, e] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16), hex.slice(17, 20), hex.slice(20, 32)];
  return `${a}-${b}-8${c}-8${d}-${e}`;
}

/** On a VinoNode, by a user: the code of a stop (`guard`). Machines that the cluster does not account for may then be changed and removed. */
export const CONFIRM_ANNOTATION = "slipway.dev/confirm-removal";

/** The VinoNode as definitions bear it. */
export function originOf({ metadata }: VinoNode): Origin {
  return { uid: metadata.uid, generation: metadata.generation ?? 0 };
}

/** Whether the operator has let go of everything on the node. */
export function isEmptied({ metadata, spec }: VinoNode): boolean {
  return metadata.deletionTimestamp !== undefined && spec.networks.length === 0 && spec.domains.length === 0;
}

/** The wish of all VinoNodes of the node. Of two that contradict each other the first by namespace and name is heard. */
export function wishOf(
  nodes: readonly VinoNode[],
  secrets: SecretsRead,
  { scope, confirmations = [] }: { scope?: string; confirmations?: readonly string[] } = {},
): NodeWish {
  const problems = new Map<string, string>();
  const sorted = nodes.filter((one) => !isEmptied(one)).toSorted((a, b) => (ownerOf(a) < ownerOf(b) ? -1 : 1));
  const excluded = new Set<number>();
  for (const node of sorted) {
    try {
      for (const core of parseCpuSet(node.spec.cpuExclude ?? "")) excluded.add(core);
    } catch (error) {
      problems.set(subject.node(ownerOf(node)), `cpuExclude: ${asFault(error, "cpuExclude").advice}`);
    }
  }
  const networks = new Map<string, NetworkWish>();
  const pools = new Map<string, PoolWish>();
  for (const node of sorted) {
    addPool(pools, node, problems);
    for (const network of node.spec.networks) addNetwork(networks, node, network, problems);
  }
  return {
    excluded: [...excluded],
    pools: [...pools.values()],
    networks: [...networks.values()],
    bridges: new Set(sorted.flatMap(({ spec }) => spec.networks.map(({ bridge }) => bridge))),
    domains: domainsOf(sorted, secrets, problems),
    ...(scope !== undefined && { scope }),
    origins: new Map(nodes.map((one) => [ownerOf(one), originOf(one)])),
    confirmations: new Set([
      ...confirmations,
      ...nodes.flatMap(({ metadata }) => metadata.annotations?.[CONFIRM_ANNOTATION] ?? []),
    ]),
    problems,
  };
}

function addPool(pools: Map<string, PoolWish>, node: VinoNode, problems: Map<string, string>): void {
  const { name, path } = node.spec.storagePool;
  const before = pools.get(name);
  if (before === undefined) pools.set(name, { name, path, uuid: markedUuid("pool", name, path) });
  else if (before.path !== path)
    problems.set(
      subject.node(ownerOf(node)),
      `storage pool ${name} is at ${before.path} for another VinoNode: give it the same path, or another name`,
    );
}

type NetworkSpec = VinoNode["spec"]["networks"][number];

function addNetwork(
  networks: Map<string, NetworkWish>,
  node: VinoNode,
  network: NetworkSpec,
  problems: Map<string, string>,
): void {
  const { bridge, mac, addresses, dhcp, dnsServers = [], bootUrl, physicalInterface } = network;
  const about = subject.network(ownerOf(node), network.name);
  const alone: NetworkWish = {
    ...{ name: networkName(bridge), uuid: markedUuid("network", bridge), bridge, mac, addresses, dnsServers },
    dhcp: dhcp === undefined ? [] : [dhcp],
    ...(bootUrl !== undefined && bootUrl !== "" && { bootUrl }),
    physicalInterfaces: physicalInterface === undefined ? [] : [physicalInterface],
  };
  try {
    networkXml({ ...alone, record: { checksum: "" } });
  } catch (error) {
    return void problems.set(about, asFault(error, "network").message);
  }
  const before = networks.get(bridge);
  if (before === undefined) return void networks.set(bridge, alone);
  if (alone.bootUrl !== undefined && before.bootUrl !== undefined && alone.bootUrl !== before.bootUrl)
    return void problems.set(about, `bridge ${bridge} boots machines from ${before.bootUrl} for another VinoNode`);
  const all = { ...before, ...alone, mac: before.mac };
  const merged = {
    ...all,
    addresses: union(before.addresses, addresses),
    dhcp: [...before.dhcp, ...alone.dhcp.filter((range) => !before.dhcp.some(({ start }) => start === range.start))],
    dnsServers: union(before.dnsServers, dnsServers),
    physicalInterfaces: union(before.physicalInterfaces, alone.physicalInterfaces),
  };
  if (hasTwoOfAFamily(merged))
    return void problems.set(about, `bridge ${bridge} can have DHCP in one IPv4 and one IPv6 network only`);
  networks.set(bridge, merged);
}

/** Whether DHCP would be in two networks of one family, which libvirt refuses. */
function hasTwoOfAFamily({ addresses, dhcp }: NetworkWish): boolean {
  const parsed = addresses.map(tryParseCidr).filter((one): one is Cidr => one !== undefined);
  const served = dhcp.map(({ start }) => {
    const first = tryParseIp(start);
    return first && parsed.find((network) => contains(network, first));
  });
  return [4, 6].some((family) => new Set(served.filter((one) => one?.address.family === family)).size > 1);
}

function union<T>(a: readonly T[], b: readonly T[]): readonly T[] {
  return [...new Set([...a, ...b])];
}

const DOMAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const VOLUME_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/;
const DEVICE = /^(vd|sd|hd)[a-z]$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function domainsOf(nodes: readonly VinoNode[], secrets: SecretsRead, problems: Map<string, string>): DomainWish[] {
  const taken = new Map<string, string>();
  const wishes: DomainWish[] = [];
  for (const [node, domain] of nodes.flatMap((one) => one.spec.domains.map((each) => [one, each] as const))) {
    const whole = problems.get(subject.node(ownerOf(node)));
    const wish = whole ?? badDomain(domain) ?? takenTwice(node, domain, taken) ?? domainWish(node, domain, secrets);
    if (typeof wish === "string") problems.set(subject.domain(ownerOf(node), domain.name), wish);
    else wishes.push(wish);
  }
  return wishes;
}

/** What of a domain another one has already. Otherwise it is taken from now on. */
function takenTwice({ metadata, spec }: VinoNode, domain: Domain, taken: Map<string, string>): string | undefined {
  const volumes = domain.disks.map(({ volume }) => `volume ${volume} of pool ${spec.storagePool.name}`);
  const ids = [`name ${domain.name}`, `UUID ${domain.uuid}`, ...volumes];
  const twice = ids.find((id, at) => taken.has(id) || ids.indexOf(id) !== at);
  if (twice !== undefined) return `${twice} is taken by ${taken.get(twice) ?? "itself"}`;
  for (const id of ids) taken.set(id, `${ownerOf({ metadata })}'s ${domain.name}`);
  return undefined;
}

function badDomain({ name, uuid, disks }: Domain): string | undefined {
  if (!DOMAIN_NAME.test(name))
    return "its name has other characters than letters, digits, dots, dashes and underscores";
  if (!UUID.test(uuid)) return `UUID ${uuid.slice(0, 64)} is none in lower case`;
  const disk = disks.find(({ volume, device }) => !VOLUME_NAME.test(volume) || !DEVICE.test(device));
  if (disk !== undefined)
    return `disk ${disk.device.slice(0, 64)}: its device is none such as vda, or its volume ${disk.volume.slice(0, 64)} is no plain name`;
  const devices = disks.map(({ device }) => device);
  return new Set(devices).size < devices.length ? "two disks have the same device" : undefined;
}

/** A text says what is missing. */
function domainWish(node: VinoNode, domain: Domain, secrets: SecretsRead): DomainWish | string {
  const cards: string[] = [];
  for (const { name, network } of domain.interfaces) {
    const found = node.spec.networks.find((one) => one.name === network);
    if (found === undefined) return `interface ${name}: there is no network ${network} in the VinoNode`;
    cards.push(networkName(found.bridge));
  }
  const of = { owner: ownerOf(node), origin: originOf(node) };
  const wish: DomainWish = { ...domain, ...of, pool: node.spec.storagePool.name, cards };
  if (domain.vnc === undefined) return wish;
  const secret = secrets.get(`${node.metadata.namespace}/${domain.vnc.name}`);
  const password = secret?.data.password;
  if (secret === undefined || password === undefined || password === "")
    return `Secret ${domain.vnc.name} with the key password, for its screen, is missing`;
  return { ...wish, screen: { password, version: secret.version } };
}
