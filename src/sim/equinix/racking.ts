import { uuid } from "@slipway/base";
import type { Hardware } from "../hardware.ts";
import { type AddressWish, addressOf, DEFAULT_ADDRESSES } from "./addresses.ts";
import type { PlanFacts } from "./catalog.ts";
import type { Cloud, Reservation } from "./cloud.ts";
import type { SimAddress, SimDevice, SimPort } from "./device.ts";
import { metadataObject } from "./reading.ts";

const MAX_STALE_MS = 30_000;

/** What was agreed on when the device was sold. */
export interface Sale {
  body: Readonly<Record<string, unknown>>;
  plan: PlanFacts;
  metro: string;
  facility: string;
  sshKeys: readonly string[];
  /** When it is taken back by itself. */
  terminatesAt: number | undefined;
  operatingSystem: string;
  userData: string;
  scriptUrl: string;
  spot: boolean;
  reservation: Reservation | undefined;
}

/** Puts a machine in place: ports, addresses, a body. It has no power yet. */
export function rack(cloud: Cloud, projectId: string, sale: Sale): SimDevice {
  const { body, plan } = sale;
  const { clock, random, faults } = cloud;
  const id = uuid(random);
  const number = cloud.nextNumber();
  const slot = cloud.addresses.take();
  const now = clock.now();
  const stale = Math.min(MAX_STALE_MS, faults.staleListsMs ?? 0);
  const ports: SimPort[] = [];
  const device: SimDevice = {
    id,
    slot,
    projectId,
    plan,
    metro: sale.metro,
    facility: sale.facility,
    sshKeys: sale.sshKeys,
    operatingSystem: sale.operatingSystem,
    billingCycle: text(body.billing_cycle) ?? "hourly",
    createdAt: now,
    listedAt: stale > 0 ? now + random.int(stale + 1) : now,
    spot: sale.spot,
    reservation: sale.reservation?.id,
    order: body,
    hardware: bodyOf(() => device, ports, `SIM${String(number).padStart(7, "0")}`),
    ports,
    hostname: text(body.hostname) || `${plan.slug.replaceAll(".", "-")}-${number}`,
    description: text(body.description),
    state: "queued",
    tags: Array.isArray(body.tags) ? body.tags.map(String) : [],
    userData: sale.userData,
    scriptUrl: sale.scriptUrl,
    alwaysPxe: body.always_pxe === true,
    customData: metadataObject(body.customdata),
    locked: body.locked === true,
    networkFrozen: body.network_frozen === true,
    terminatesAt: sale.terminatesAt,
    updatedAt: now,
    addresses: [],
    events: [],
    stage: undefined,
    runs: undefined,
    powered: undefined,
    timer: undefined,
    revocation: undefined,
    boot: undefined,
    reinstallPending: false,
    dead: false,
    shown: new Map(),
  };
  wirePorts(cloud, device, ports, number);
  const size = Number(body.public_ipv4_subnet_size);
  cloud.setAddresses(
    device,
    addressWishes(body).map((wish) => sized(addressOf(slot, wish, random), size)),
  );
  return device;
}

/** The addresses that an order asks for; those of any device where it does not say. */
function addressWishes({ ip_addresses: wishes }: Sale["body"]): readonly AddressWish[] {
  if (!Array.isArray(wishes) || wishes.length === 0) return DEFAULT_ADDRESSES;
  return wishes.map((one: { address_family?: number; public?: boolean }) => ({
    family: one.address_family === 6 ? 6 : 4,
    public: one.public !== false,
  }));
}

/** The public IPv4 block in the size that was asked for. */
function sized(address: SimAddress, prefix: number): SimAddress {
  const fits = Number.isInteger(prefix) && prefix >= 24 && prefix <= 32;
  return fits && address.family === 4 && address.public ? { ...address, cidr: prefix } : address;
}

function wirePorts(cloud: Cloud, device: SimDevice, ports: SimPort[], number: number): void {
  const bare = { device, vlans: [], native: undefined };
  for (const [i, members] of device.plan.bonds.entries()) {
    const bond: SimPort = {
      ...bare,
      id: uuid(cloud.random),
      name: `bond${i}`,
      kind: "bond",
      mac: undefined,
      bond: undefined,
      bonded: true,
      // Only the first bond carries the machine's addresses.
      layer: i === 0 ? 3 : 2,
    };
    ports.push(bond);
    for (const name of members) {
      const mac = macOf(number, Number(name.slice(3)));
      ports.push({ ...bare, id: uuid(cloud.random), name, kind: "physical", mac, bond, bonded: true, layer: 3 });
    }
  }
}

/** Locally administered, so that it belongs to no real card. Three bytes of device, one of port. */
function macOf(device: number, port: number): string {
  const bytes = [0x02, 0x51, (device >> 16) & 255, (device >> 8) & 255, device & 255, port];
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}

/** The device's body. Its addresses and name are read when they are used: they change under it. */
export function bodyOf(device: () => SimDevice, ports: readonly SimPort[], serial: string): Hardware {
  const ip = (isPublic: boolean): string =>
    device().addresses.find((one) => one.family === 4 && one.public === isPublic)?.address ?? "";
  return {
    get id() {
      return device().id;
    },
    get hostname() {
      return device().hostname;
    },
    get plan() {
      return device().plan.slug;
    },
    serial,
    get nics() {
      return ports
        .filter((port) => port.kind === "physical")
        .map(({ name, mac }) => ({ name, mac: mac! }))
        .sort((a, b) => a.name.localeCompare(b.name));
    },
    get publicIp() {
      return ip(true);
    },
    get privateIp() {
      return ip(false);
    },
    get firmware() {
      return device().plan.firmware;
    },
    get diskGiB() {
      return device().plan.diskGiB;
    },
    reachable: () => ip(true) !== "",
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
