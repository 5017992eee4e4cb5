import { METROS, planFacts } from "./catalog.ts";
import type { Cloud, Reservation } from "./cloud.ts";
import type { SimDevice } from "./device.ts";
import { rack } from "./racking.ts";
import { unprocessable } from "./refused.ts";

type Body = Readonly<Record<string, unknown>>;

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

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
