import { uuid } from "@slipway/base";
import { METROS, planFacts } from "./catalog.ts";
import type { Cloud, Reservation } from "./cloud.ts";
import type { SimDevice } from "./device.ts";
import { type Facility, facilitiesIn, facilityOf } from "./facilities.ts";
import { isOperatingSystem } from "./operating-systems.ts";
import { rack } from "./racking.ts";
import { strings } from "./reading.ts";
import { unprocessable } from "./refused.ts";

type Body = Readonly<Record<string, unknown>>;

/** Sells a device for the body of an order, as the API would, or throws `Refused`. What happens to it then is the lifecycle's. */
export function sell(cloud: Cloud, projectId: string, body: Body): SimDevice {
  const plan = planFacts(text(body.plan) ?? "");
  if (plan === undefined) throw unprocessable(`plan ${JSON.stringify(body.plan ?? null)} is not a valid plan`);
  const operatingSystem = text(body.operating_system);
  if (!operatingSystem) throw unprocessable("operating_system can't be blank");
  if (!isOperatingSystem(operatingSystem))
    throw unprocessable(`operating_system ${operatingSystem} is not a valid operating system`);
  const userData = text(body.userdata) ?? "";
  const scriptUrl = text(body.ipxe_script_url) ?? "";
  if (operatingSystem === "custom_ipxe" && scriptUrl === "" && !userData.startsWith("#!ipxe")) {
    throw unprocessable("ipxe_script_url or an iPXE script in userdata is required for custom_ipxe");
  }
  const spot = body.spot_instance === true;
  const reservation = reserve(cloud, text(body.hardware_reservation_id), plan.slug);
  const facilities = facilitiesIn(body.facility);
  const metro = reservation?.metro ?? placeIn(cloud, metroWished(cloud, body, facilities, plan.slug), plan.slug);
  const facility = facilities?.find((one) => one.metro === metro)?.code ?? facilityOf(metro);
  const sshKeys = keysOf(cloud, projectId, body);
  const terminatesAt = terminationOf(cloud, body);
  if (spot) bid(cloud, metro, plan.slug, body.spot_price_max);

  if (reservation === undefined) cloud.addCapacity(metro, plan.slug, -1);
  const place = { plan, metro, facility, reservation };
  const device = rack(cloud, projectId, {
    ...{ body, ...place, operatingSystem, userData, scriptUrl, spot, sshKeys, terminatesAt },
  });
  if (reservation !== undefined) reservation.device = device;
  cloud.add(device);
  return device;
}

/** The metro of the body; else that of the first facility that has a machine, or of the first. */
function metroWished(cloud: Cloud, body: Body, facilities: Facility[] | undefined, plan: string): string | undefined {
  const metro = text(body.metro);
  if (metro || facilities === undefined) return metro;
  if (facilities.length === 0) throw unprocessable(`facility ${String(body.facility)} is not a valid facility`);
  return (facilities.find((one) => cloud.free(one.metro, plan) > 0) ?? facilities[0]!).metro;
}

/** The keys to put on a device: all of the user and the project, or those of the project that are listed. */
function keysOf(cloud: Cloud, projectId: string, body: Body): string[] {
  if (body.no_ssh_keys === true) return [];
  const own = [...cloud.sshKeys.values()].filter((key) => key.projectId === undefined || key.projectId === projectId);
  const listed = [...strings(body.project_ssh_keys), ...strings(body.user_ssh_keys)];
  const unknown = strings(body.project_ssh_keys).find((id) => !own.some((key) => key.id === id));
  if (unknown !== undefined) throw unprocessable(`project_ssh_keys: ${unknown} is not a key of the project`);
  const given = newKeys(cloud, projectId, body);
  const all = listed.length === 0 && given.length === 0;
  return [...own.map(({ id }) => id).filter((id) => all || listed.includes(id)), ...given];
}

/** Keys that an order brings: they become keys of the project, unless they are. */
function newKeys(cloud: Cloud, projectId: string, { ssh_keys: keys }: Body): string[] {
  if (!Array.isArray(keys)) return [];
  return keys.map(({ key = "", label = "" }: { key?: string; label?: string }) => {
    const held = [...cloud.sshKeys.values()].find((one) => one.projectId === projectId && one.key === key);
    const id = held?.id ?? uuid(cloud.random);
    if (held === undefined) cloud.sshKeys.set(id, { id, label, key, projectId });
    return id;
  });
}

function terminationOf({ clock }: Cloud, { termination_time: wish }: Body): number | undefined {
  if (wish === undefined || wish === null || wish === "") return undefined;
  const at = Date.parse(String(wish));
  if (!(at > clock.now())) throw unprocessable("termination_time must be a time in the future");
  return at;
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

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
