/** The definition of a virtual machine for libvirt, and what is read of one. */
import type { Mac } from "@slipway/base";
import { cpuSetText, parseCpuSet } from "./cpu-set.ts";
import { type Element, element, textElement, write } from "./element.ts";
import { all, find, readXml } from "./read.ts";
import { type DomainRecord, domainRecordOf, metadata } from "./record.ts";

export type BootFrom = "disk" | "network" | "cd";

export interface VolumeOf {
  pool: string;
  name: string;
}

export interface DomainDefinition {
  name: string;
  uuid: string;
  /** Hardware that it runs on. */
  architecture: "x86_64" | "aarch64";
  /** Whether the processor runs it (KVM). Otherwise it is emulated. */
  accelerated: boolean;
  firmware: "uefi" | "uefi-secure-boot" | "bios";
  vcpus: number;
  memoryMiB: number;
  /** A core for each virtual processor. */
  cores?: readonly number[];
  /** NUMA node that memory comes from. */
  numaNode?: number;
  hugepageKiB?: number;
  /** In the order in which they are booted from. */
  disks: readonly (VolumeOf & { device: string })[];
  media?: VolumeOf;
  interfaces: readonly { network: string; mac: Mac; mtu?: number }[];
  bootMac?: Mac;
  /** Before the usual order: the disks, then the boot interface. */
  bootFirst?: BootFrom;
  vnc?: { password: string; listen: string };
  record: DomainRecord;
}

/** The definition as libvirt takes it. It holds the password of the screen: it is not for logs. */
export function domainXml(of: DomainDefinition): string {
  const { firmware, architecture } = of;
  const isSecure = firmware === "uefi-secure-boot";
  const isIntel = architecture === "x86_64";
  return write(
    element(
      "domain",
      { type: of.accelerated ? "kvm" : "qemu" },
      textElement("name", of.name),
      textElement("uuid", of.uuid),
      metadata(of.record),
      textElement("memory", of.memoryMiB, { unit: "MiB" }),
      of.hugepageKiB !== undefined &&
        element("memoryBacking", {}, element("hugepages", {}, element("page", { size: of.hugepageKiB, unit: "KiB" }))),
      textElement("vcpu", of.vcpus, { placement: "static" }),
      of.cores && pins(of.cores),
      of.numaNode !== undefined &&
        element("numatune", {}, element("memory", { mode: memoryMode(of), nodeset: of.numaNode })),
      element(
        "os",
        firmware === "bios" ? {} : { firmware: "efi" },
        textElement("type", "hvm", { arch: architecture, machine: isIntel ? "q35" : "virt" }),
        firmware !== "bios" && firmwareFeatures(isSecure),
        isSecure && element("loader", { secure: "yes" }),
      ),
      element("features", {}, element("acpi"), isIntel && element("apic"), isSecure && element("smm", { state: "on" })),
      element("cpu", { mode: of.accelerated ? "host-passthrough" : "maximum" }),
      element("clock", { offset: "utc" }),
      textElement("on_poweroff", "destroy"),
      textElement("on_reboot", "restart"),
      textElement("on_crash", "destroy"),
      devices(of),
    ),
  );
}

/** The CD drive with or without an image, to change the one in a running domain. */
export function cdXml(of: Pick<DomainDefinition, "disks" | "media">): string {
  return write(cd(of, undefined));
}

/** Name of the CD drive: one that no disk has. */
export function cdDevice(disks: readonly { device: string }[]): string {
  const used = new Set(disks.map(({ device }) => device));
  return [..."abcdefghijklmnopqrstuvwxyz"].map((letter) => `sd${letter}`).find((name) => !used.has(name))!;
}

/** Huge pages are counted by node; other memory may come from elsewhere before a machine does without. */
function memoryMode({ hugepageKiB }: DomainDefinition): string {
  return hugepageKiB === undefined ? "preferred" : "strict";
}

function firmwareFeatures(isSecure: boolean): Element {
  const enabled = isSecure ? "yes" : "no";
  return element(
    "firmware",
    {},
    element("feature", { enabled, name: "secure-boot" }),
    isSecure && element("feature", { enabled, name: "enrolled-keys" }),
  );
}

function pins(cores: readonly number[]): Element {
  return element(
    "cputune",
    {},
    ...cores.map((core, vcpu) => element("vcpupin", { vcpu, cpuset: core })),
    element("emulatorpin", { cpuset: cpuSetText(cores) }),
  );
}

/** The place of each device in the order, from 1; the CD drive has one only where it is first. Pure. */
export function bootOrder(
  of: Pick<DomainDefinition, "disks" | "interfaces" | "bootMac" | "bootFirst">,
): Readonly<Record<string, number>> {
  const disks = of.disks.map(({ device }) => device);
  const card = of.interfaces.find(({ mac }) => mac === of.bootMac) ?? of.interfaces[0];
  const cards = card === undefined ? [] : [card.mac];
  const usual = [...disks, ...cards];
  const devices: Record<BootFrom, readonly string[]> = { disk: disks, network: cards, cd: [cdDevice(of.disks)] };
  const first = of.bootFirst === undefined ? [] : devices[of.bootFirst];
  const order = [...first, ...usual.filter((one) => !first.includes(one))];
  return Object.fromEntries(order.map((one, at) => [one, at + 1]));
}

function devices(of: DomainDefinition): Element {
  const order = bootOrder(of);
  const place = (id: string): Element | undefined =>
    order[id] === undefined ? undefined : element("boot", { order: order[id] });
  return element(
    "devices",
    {},
    ...of.disks.map(({ pool, name, device }) =>
      element(
        "disk",
        { type: "volume", device: "disk" },
        element("driver", { name: "qemu", type: "qcow2", cache: "none", discard: "unmap" }),
        element("source", { pool, volume: name }),
        element("target", { dev: device, bus: busOf(device) }),
        place(device),
      ),
    ),
    cd(of, place(cdDevice(of.disks))),
    ...of.interfaces.map(({ network, mac, mtu }) =>
      element(
        "interface",
        { type: "network" },
        element("mac", { address: mac }),
        element("source", { network }),
        element("model", { type: "virtio" }),
        mtu !== undefined && element("mtu", { size: mtu }),
        place(mac),
      ),
    ),
    element("serial", { type: "pty" }, element("target", { port: 0 })),
    of.vnc &&
      element(
        "graphics",
        { type: "vnc", port: -1, autoport: "yes", passwd: of.vnc.password },
        element("listen", { type: "address", address: of.vnc.listen }),
      ),
    element("rng", { model: "virtio" }, textElement("backend", "/dev/urandom", { model: "random" })),
  );
}

function cd({ disks, media }: Pick<DomainDefinition, "disks" | "media">, boot: Element | undefined): Element {
  return element(
    "disk",
    { type: "volume", device: "cdrom" },
    element("driver", { name: "qemu", type: "raw" }),
    media && element("source", { pool: media.pool, volume: media.name }),
    element("target", { dev: cdDevice(disks), bus: "sata" }),
    element("readonly"),
    boot,
  );
}

function busOf(device: string): string {
  if (device.startsWith("sd") || device.startsWith("hd")) return "sata";
  return "virtio";
}

/** What is read of a definition, or of a running domain. */
export interface DomainRead {
  name: string;
  uuid: string;
  /** Undefined: it is not the agent's. */
  record?: DomainRecord;
  vcpus: number;
  /** Cores that its virtual processors are pinned to, by processor; empty: it is pinned to none. */
  cores: readonly number[];
  /** Everything that it is pinned to. */
  pinned: readonly number[];
  memoryKiB: number;
  /** Undefined: ordinary memory. 0: huge pages of the system's default size. */
  hugepageKiB?: number;
  /** Undefined: of any. */
  numaNode?: number;
  cards: readonly { mac: Mac; network?: string; bridge?: string; tap?: string; alias?: string }[];
  drives: readonly { device: string; alias?: string; pool?: string; volume?: string }[];
}

/** Reads a domain's description, with or without the agent's record. Throws a `Fault` (`Invalid`). */
export function readDomain(xml: string): DomainRead {
  const root = readXml(xml);
  const record = domainRecordOf(root);
  const pins = all(root, "cputune", "vcpupin").map(({ attributes: { vcpu, cpuset = "" } }) => ({
    vcpu: Number(vcpu),
    cpus: parseCpuSet(cpuset),
  }));
  const memory = find(root, "memory");
  const hugepages = find(root, "memoryBacking", "hugepages");
  const page = find(hugepages, "page");
  const nodes = find(root, "numatune", "memory")?.attributes.nodeset;
  return {
    name: find(root, "name")?.text ?? "",
    uuid: find(root, "uuid")?.text ?? "",
    ...(record !== undefined && { record }),
    vcpus: Number(find(root, "vcpu")?.text ?? 1),
    cores: pins.every(({ cpus }) => cpus.length === 1)
      ? pins.toSorted((a, b) => a.vcpu - b.vcpu).map(({ cpus }) => cpus[0]!)
      : [],
    pinned: [...new Set(pins.flatMap(({ cpus }) => cpus))],
    memoryKiB: kib(memory?.text, memory?.attributes.unit),
    ...(hugepages !== undefined && { hugepageKiB: page ? kib(page.attributes.size, page.attributes.unit) : 0 }),
    ...(nodes !== undefined && /^\d+$/.test(nodes) && { numaNode: Number(nodes) }),
    cards: all(root, "devices", "interface").map(readCard),
    drives: all(root, "devices", "disk").map(readDrive),
  };
}

function readCard(card: Element): DomainRead["cards"][number] {
  const { network, bridge } = find(card, "source")?.attributes ?? {};
  const tap = find(card, "target")?.attributes.dev;
  const alias = find(card, "alias")?.attributes.name;
  return {
    mac: find(card, "mac")?.attributes.address ?? "",
    ...(network !== undefined && { network }),
    ...(bridge !== undefined && { bridge }),
    ...(tap !== undefined && { tap }),
    ...(alias !== undefined && { alias }),
  };
}

function readDrive(drive: Element): DomainRead["drives"][number] {
  const { pool, volume } = find(drive, "source")?.attributes ?? {};
  const alias = find(drive, "alias")?.attributes.name;
  return {
    device: find(drive, "target")?.attributes.dev ?? "",
    ...(alias !== undefined && { alias }),
    ...(pool !== undefined && { pool }),
    ...(volume !== undefined && { volume }),
  };
}

const UNITS: Readonly<Record<string, number>> = {
  ...{ b: 1 / 1024, bytes: 1 / 1024, KB: 1000 / 1024, k: 1, KiB: 1, MB: 1e6 / 1024, M: 1024, MiB: 1024 },
  ...{ GB: 1e9 / 1024, G: 1024 ** 2, GiB: 1024 ** 2, TB: 1e12 / 1024, T: 1024 ** 3, TiB: 1024 ** 3 },
};

function kib(amount: string | undefined, unit = "KiB"): number {
  return Math.ceil(Number(amount ?? 0) * (UNITS[unit] ?? 1));
}
