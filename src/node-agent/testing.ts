import { Fault, quietLog } from "@slipway/base";
import type { VinoNode } from "../kinds/vino/vino-node.ts";
import type { DomainEvent, DomainRef, Libvirt, NamedRef, VolumeRef } from "./libvirt/libvirt.ts";
import type { Links } from "./node/links.ts";
import { readDomain } from "./xml/domain.ts";
import { find, readXml } from "./xml/read.ts";
import { readCapacity } from "./xml/storage.ts";

interface FakeDomain {
  next: string;
  live?: string;
  id: number;
}

interface FakeNetwork {
  xml: string;
  active: boolean;
}

interface FakePool extends FakeNetwork {
  volumes: Map<string, bigint>;
}

export const CAPABILITIES = `<capabilities><host><cpu><arch>x86_64</arch></cpu><topology><cells num='1'><cell id='0'>
  <pages unit='KiB' size='4'>1000</pages><pages unit='KiB' size='2048'>1024</pages>
  <cpus num='4'><cpu id='0'/><cpu id='1'/><cpu id='2'/><cpu id='3'/></cpus></cell></cells></topology></host>
  <guest><arch name='x86_64'><domain type='qemu'/></arch></guest></capabilities>`;

/** A libvirt in memory: it keeps what is defined, refuses what libvirt refuses, and dies after as many calls as a test says. For tests. */
export class FakeLibvirt implements Libvirt {
  readonly domainsByUuid = new Map<string, FakeDomain>();
  readonly networksByName = new Map<string, FakeNetwork>();
  readonly poolsByName = new Map<string, FakePool>();
  /** Devices of the node and their bridges. */
  readonly devices = new Map<string, string | undefined>();
  readonly monitor: string[] = [];
  /** All that was changed, in words. */
  readonly changes: string[] = [];
  onEvent: (domain: DomainRef, event: DomainEvent) => void = () => {};
  /** So many changes are made before the connection ends; undefined: it never does. */
  dieAfter: number | undefined;
  /** Why a change fails, if it does. */
  refuse: (what: string) => string | undefined = () => undefined;
  #ids = 0;
  #end = Promise.withResolvers<void>();

  /** A connection to it, in the place of the one before. */
  open(onEvent: FakeLibvirt["onEvent"]): FakeLibvirt {
    this.onEvent = onEvent;
    this.#end = Promise.withResolvers<void>();
    return this;
  }

  get ended(): Promise<void> {
    return this.#end.promise;
  }

  async close(): Promise<void> {
    this.#end.resolve();
  }

  readonly links: Links = {
    masters: async () => new Map(this.devices),
    plug: async (device, bridge) => {
      this.#change(`plug ${device}`);
      this.devices.set(device, bridge);
    },
  };

  /** What there is, in words. */
  inventory(): string[] {
    return [
      ...[...this.domainsByUuid.values()].map(({ next }) => `domain ${readDomain(next).name}`),
      ...[...this.networksByName.keys()].map((name) => `network ${name}`),
      ...[...this.poolsByName].flatMap(([name, { volumes }]) => [
        `pool ${name}`,
        ...[...volumes.keys()].map((one) => `volume ${name}/${one}`),
      ]),
    ].sort();
  }

  async capabilities() {
    return CAPABILITIES;
  }

  async domains() {
    return [...this.domainsByUuid].map(([uuid, { next, id }]) => ({ name: readDomain(next).name, uuid, id }));
  }

  async domainXml({ uuid }: DomainRef, next: boolean) {
    const domain = this.#domain(uuid);
    return next ? domain.next : (domain.live ?? domain.next);
  }

  async defineDomain(xml: string) {
    const { name, uuid } = readDomain(xml);
    this.#change(`define ${name}`);
    const before = this.domainsByUuid.get(uuid);
    this.domainsByUuid.set(uuid, { id: -1, ...before, next: xml });
    return { name, uuid, id: -1 };
  }

  async undefineDomain({ uuid, name }: DomainRef) {
    this.#domain(uuid);
    this.#change(`undefine ${name}`);
    this.domainsByUuid.delete(uuid);
  }

  async startDomain({ uuid, name }: DomainRef) {
    const domain = this.#domain(uuid);
    this.#change(`start ${name}`);
    if (domain.live !== undefined) throw new Fault("Conflict", "libvirt", "domain is already running");
    for (const { pool, volume } of readDomain(domain.next).drives)
      if (volume !== undefined && !this.poolsByName.get(pool!)?.volumes.has(volume))
        throw new Fault("NotFound", "libvirt", `no volume ${volume}`);
    domain.live = domain.next;
    domain.id = ++this.#ids;
    this.onEvent({ uuid, name, id: domain.id }, "started");
  }

  async destroyDomain({ uuid, name }: DomainRef) {
    const domain = this.#domain(uuid);
    this.#change(`destroy ${name}`);
    if (domain.live === undefined) throw new Fault("Conflict", "libvirt", "domain is not running");
    this.stopped(uuid);
  }

  /** A domain stops by itself. */
  stopped(uuid: string): void {
    const domain = this.#domain(uuid);
    delete domain.live;
    domain.id = -1;
    this.onEvent({ uuid, name: readDomain(domain.next).name, id: -1 }, "stopped");
  }

  async shutDownDomain({ name }: DomainRef) {
    this.#change(`shut down ${name}`);
  }

  async updateDevice({ name }: DomainRef) {
    this.#change(`update ${name}`);
  }

  async monitorCommand(_: DomainRef, command: string) {
    this.monitor.push(command);
    return JSON.stringify({ return: {} });
  }

  async networks() {
    return [...this.networksByName].map(([, { xml, active }]) => ({ ref: refOf(xml), active }));
  }

  async networkXml({ name }: NamedRef) {
    return this.#network(name).xml;
  }

  async defineNetwork(xml: string) {
    const ref = refOf(xml);
    this.#change(`define network ${ref.name}`);
    this.networksByName.set(ref.name, { active: false, ...this.networksByName.get(ref.name), xml });
    return ref;
  }

  async startNetwork({ name }: NamedRef) {
    const network = this.#network(name);
    this.#change(`start network ${name}`);
    network.active = true;
    this.devices.set(bridgeOf(network.xml), undefined);
  }

  async stopNetwork({ name }: NamedRef) {
    const network = this.#network(name);
    this.#change(`stop network ${name}`);
    network.active = false;
    const bridge = bridgeOf(network.xml);
    this.devices.delete(bridge);
    for (const [device, master] of this.devices) if (master === bridge) this.devices.set(device, undefined);
  }

  async undefineNetwork({ name }: NamedRef) {
    this.#network(name);
    this.#change(`undefine network ${name}`);
    this.networksByName.delete(name);
  }

  async pools() {
    return [...this.poolsByName.values()].map(({ xml, active }) => ({ ref: refOf(xml), active }));
  }

  async poolXml({ name }: NamedRef) {
    return this.#pool(name).xml;
  }

  async definePool(xml: string) {
    const ref = refOf(xml);
    this.#change(`define pool ${ref.name}`);
    this.poolsByName.set(ref.name, { xml, active: false, volumes: new Map() });
    return ref;
  }

  async startPool({ name }: NamedRef) {
    this.#change(`start pool ${name}`);
    this.#pool(name).active = true;
  }

  async stopPool({ name }: NamedRef) {
    this.#change(`stop pool ${name}`);
    this.#pool(name).active = false;
  }

  async undefinePool({ name }: NamedRef) {
    this.#pool(name);
    this.#change(`undefine pool ${name}`);
    this.poolsByName.delete(name);
  }

  async deletePool({ name }: NamedRef) {
    if (this.#pool(name).volumes.size > 0) throw new Fault("Internal", "libvirt", "Directory not empty");
  }

  async volumes({ name }: NamedRef) {
    return [...this.#pool(name).volumes.keys()].map((one) => ({ pool: name, name: one, key: `/${name}/${one}` }));
  }

  async volumeXml({ pool, name }: VolumeRef) {
    return `<volume><capacity>${this.#pool(pool).volumes.get(name)}</capacity></volume>`;
  }

  async createVolume({ name: pool }: NamedRef, xml: string) {
    const name = find(readXml(xml), "name")!.text;
    this.#change(`create volume ${name}`);
    if (this.#pool(pool).volumes.has(name)) throw new Fault("AlreadyExists", "libvirt", `volume ${name} exists`);
    this.#pool(pool).volumes.set(name, readCapacity(xml));
    return { pool, name, key: `/${pool}/${name}` };
  }

  async deleteVolume({ pool, name }: VolumeRef) {
    this.#change(`delete volume ${name}`);
    this.#pool(pool).volumes.delete(name);
  }

  async resizeVolume({ pool, name }: VolumeRef, bytes: bigint) {
    this.#change(`grow volume ${name}`);
    this.#pool(pool).volumes.set(name, bytes);
  }

  async uploadVolume(_: VolumeRef, bytes: AsyncIterable<Buffer>) {
    for await (const _chunk of bytes);
  }

  /** Before each change, so that a death leaves either all of it or nothing. */
  #change(what: string): void {
    if (this.dieAfter !== undefined && this.dieAfter-- <= 0) throw new Fault("LostAnswer", "libvirt", "it died");
    const why = this.refuse(what);
    if (why !== undefined) throw new Fault("Internal", "libvirt", why);
    this.changes.push(what);
  }

  #domain(uuid: string): FakeDomain {
    return there(this.domainsByUuid.get(uuid));
  }

  #network(name: string): FakeNetwork {
    return there(this.networksByName.get(name));
  }

  #pool(name: string): FakePool {
    return there(this.poolsByName.get(name));
  }
}

/** What carries out steps on it. */
export function handsOn(libvirt: FakeLibvirt) {
  return { libvirt, links: libvirt.links, log: quietLog };
}

type Spec = VinoNode["spec"];
type Domain = Spec["domains"][number];

/** A domain of a VinoNode. Names end with a digit. */
export function domain(name: string, more: Partial<Domain> = {}): Domain {
  const at = `${name.startsWith("x") ? "a" : "b"}${name.at(-1)}`;
  return {
    ...{ name, uuid: `00000000-0000-4000-8000-0000000000${at}`, host: name, role: "worker", vcpus: 1, memoryMiB: 512 },
    ...{ pinned: true, hugepages: false, firmware: "bios", bmc: { name: `${name}-bmc` } },
    disks: [{ volume: `${name}-vda`, sizeGiB: 2, sparse: true, device: "vda" }],
    interfaces: [{ name: "eth0", network: "management", mac: `52:54:00:00:00:${at}` }],
    ...more,
  };
}

/** A VinoNode of the node leviathan. */
export function node(name: string, domains: readonly Domain[], more: Partial<Spec> = {}): VinoNode {
  return {
    apiVersion: "slipway.dev/v1alpha1",
    kind: "VinoNode",
    metadata: { namespace: "vino-system", name, uid: name, resourceVersion: "1", creationTimestamp: "" },
    spec: {
      nodeName: "leviathan",
      storagePool: { name: "deep", path: "/var/lib/libvirt/deep" },
      networks: [{ name: "management", bridge: "br0", mac: "02:00:00:00:00:01", addresses: ["10.0.0.1/24"] }],
      domains: [...domains],
      ...more,
    },
  } as VinoNode;
}

/** A VinoNode that is being deleted, and of which the operator wants nothing any more. */
export function emptied(name: string): VinoNode {
  const one = node(name, [], { networks: [] });
  return { ...one, metadata: { ...one.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
}

function there<T>(found: T | undefined): T {
  if (found === undefined) throw new Fault("NotFound", "libvirt", "there is no such thing");
  return found;
}

function refOf(xml: string): NamedRef {
  const root = readXml(xml);
  return { name: find(root, "name")!.text, uuid: find(root, "uuid")?.text ?? "" };
}

function bridgeOf(xml: string): string {
  return find(readXml(xml), "bridge")?.attributes.name ?? "";
}
