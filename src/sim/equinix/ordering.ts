import { uuid } from "../../base/random.ts";
import type { Hardware } from "../hardware.ts";
import { addressOf, DEFAULT_ADDRESSES } from "./addresses.ts";
import { METROS, type PlanFacts, planFacts } from "./catalog.ts";
import type { Cloud, Reservation } from "./cloud.ts";
import type { SimDevice, SimPort } from "./device.ts";
import { unprocessable } from "./refused.ts";

type Body = Readonly<Record<string, unknown>>;

const MAX_STALE_MS = 30_000;

/** Sells a device for the body of an order, as the API would, or throws `Refused`. What happens to it then is the lifecycle's. */
export function sell(cloud: Cloud, projectId: string, body: Body): SimDevice {
  const plan = planFacts(text(body.plan) ?? "");
  if (plan === undefined) throw unprocessable(`plan ${JSON.stringify(body.plan ?? null)} is not a valid plan`);
  const operatingSystem = text(body.operating_system);
  if (!operatingSystem) throw unprocessable("operating_system can't be blank");
  const facility = body.facility;
  if (facility !== undefined && facility !== null && String(facility) !== "") {
    throw unprocessable("facility: provisioning by facility is no longer supported; use metro");
  }
  const userData = text(body.userdata) ?? "";
  const scriptUrl = text(body.ipxe_script_url) ?? "";
  if (operatingSystem === "custom_ipxe" && scriptUrl === "" && !userData.startsWith("#!ipxe")) {
    throw unprocessable("ipxe_script_url or an iPXE script in userdata is required for custom_ipxe");
  }
  const spot = body.spot_instance === true;
  const reservation = reserve(cloud, text(body.hardware_reservation_id), plan.slug);
  const metro = reservation?.metro ?? placeIn(cloud, text(body.metro), plan.slug);
  if (spot) bid(cloud, metro, plan.slug, body.spot_price_max);

  if (reservation === undefined) cloud.addCapacity(metro, plan.slug, -1);
  const device = rack(cloud, projectId, { body, plan, metro, operatingSystem, userData, scriptUrl, spot, reservation });
  if (reservation !== undefined) reservation.device = device;
  cloud.add(device);
  return device;
}

function placeIn(cloud: Cloud, metro: string | undefined, plan: string): string {
  if (!metro) throw unprocessable("metro can't be blank");
  const code = metro.toLowerCase();
  if (code === "any") {
    const place = [...METROS.keys()].find((one) => cloud.free(one, plan) > 0);
    if (place !== undefined) return place;
  } else if (!METROS.has(code)) {
    throw unprocessable(`metro ${metro} is not a valid metro`);
  }
  if (code === "any" || cloud.free(code, plan) <= 0) {
    throw unprocessable(`There aren't available servers in that metro: no ${plan} in ${code}`);
  }
  return code;
}

function reserve(cloud: Cloud, wish: string | undefined, plan: string): Reservation | undefined {
  if (!wish) return undefined;
  if (wish === "next-available") {
    const free = [...cloud.reservations.values()].find((one) => one.device === undefined && one.plan === plan);
    if (free === undefined) throw unprocessable(`No available hardware reservations for plan ${plan}`);
    return free;
  }
  const named = cloud.reservations.get(wish);
  if (named === undefined) throw unprocessable(`hardware reservation ${wish} is not valid`);
  if (named.device !== undefined) throw unprocessable(`Hardware reservation ${wish} is not provisionable`);
  if (named.plan !== plan) throw unprocessable(`hardware reservation ${wish} is for plan ${named.plan}`);
  return named;
}

function bid(cloud: Cloud, metro: string, plan: string, max: unknown): void {
  // The original's client sends the number as a string.
  const offer = max === undefined || max === null || max === "" ? Number.POSITIVE_INFINITY : Number(max);
  if (Number.isNaN(offer)) throw unprocessable("spot_price_max is not a number");
  const price = cloud.spotPrice(metro, plan);
  if (offer < price) throw unprocessable(`spot_price_max ${offer} is below the current spot price ${price}`);
}

interface Sale {
  body: Body;
  plan: PlanFacts;
  metro: string;
  operatingSystem: string;
  userData: string;
  scriptUrl: string;
  spot: boolean;
  reservation: Reservation | undefined;
}

function rack(cloud: Cloud, projectId: string, sale: Sale): SimDevice {
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
    operatingSystem: sale.operatingSystem,
    billingCycle: text(body.billing_cycle) ?? "hourly",
    createdAt: now,
    listedAt: stale > 0 ? now + random.int(stale + 1) : now,
    spot: sale.spot,
    reservation: sale.reservation?.id,
    order: body,
    hardware: hardware(() => device, ports, `SIM${String(number).padStart(7, "0")}`),
    ports,
    hostname: text(body.hostname) || `${plan.slug.replaceAll(".", "-")}-${number}`,
    description: text(body.description),
    state: "queued",
    tags: Array.isArray(body.tags) ? body.tags.map(String) : [],
    userData: sale.userData,
    scriptUrl: sale.scriptUrl,
    alwaysPxe: body.always_pxe === true,
    customData: body.customdata ?? {},
    locked: body.locked === true,
    networkFrozen: body.network_frozen === true,
    terminatesAt: undefined,
    updatedAt: now,
    addresses: [],
    events: [],
    stage: undefined,
    powered: undefined,
    timer: undefined,
    revocation: undefined,
    boot: undefined,
    reinstallPending: false,
    dead: false,
    shown: new Map(),
  };
  wirePorts(cloud, device, ports, number);
  cloud.setAddresses(
    device,
    DEFAULT_ADDRESSES.map((wish) => addressOf(slot, wish, random)),
  );
  return device;
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

/** Locally administered, so that it can't be anybody's. Three bytes of device, one of port. */
function macOf(device: number, port: number): string {
  const bytes = [0x02, 0x51, (device >> 16) & 255, (device >> 8) & 255, device & 255, port];
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}

/** The device's body. Its addresses and name are read when they are used: they change under it. */
function hardware(device: () => SimDevice, ports: readonly SimPort[], serial: string): Hardware {
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
