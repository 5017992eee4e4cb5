import type { Concern, Order, Placement } from "../../machine.ts";
import type { ProviderAccount } from "../../provider.ts";
import { claimTag } from "./claim-tag.ts";
import { metroOf } from "./placement.ts";
import type { WireOrder } from "./wire.ts";

const BILLING_CYCLES = ["hourly", "daily", "monthly", "yearly"];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Names = Pick<ProviderAccount, "project" | "planMapping" | "metroMapping">;

/** What of an order the Metal API would refuse, ignore or read differently. Pure. */
export function concernsAbout(order: Order, account: Names): readonly Concern[] {
  const concerns: Concern[] = [];
  const note = (fatal: boolean, field: string, message: string): void => {
    concerns.push({ field: `spec.${field}`, message, fatal });
  };
  const metro = metroFor(order, account);
  const { facility = [], metro: wished } = order.placement;
  if (facility.length > 0) {
    const instead =
      metro === undefined ? "" : wished === undefined ? `; metro ${metro} is used instead` : `; metro ${metro} is used`;
    note(false, "facility", `facilities are deprecated and refused by the API: not sent${instead}`);
  }
  // A reserved machine stands where it stands.
  if (metro === undefined && !reservationOf(order))
    note(true, "metro", "a metro is required, and none follows from the facility");
  if (order.placement.plan === "") note(true, "plan", "a plan is required");
  if (order.operatingSystem === "") note(true, "operating_system", "an operating system is required");
  if (order.billingCycle && !BILLING_CYCLES.includes(order.billingCycle)) {
    note(true, "billingCycle", `${order.billingCycle} is none of ${BILLING_CYCLES.join(", ")}`);
  }
  if (order.projectId && UUID.test(account.project) && order.projectId !== account.project) {
    note(
      true,
      "projectID",
      `the provider's account serves project ${account.project}; name another MachineProvider for this one`,
    );
  }
  if (order.customData && jsonObject(order.customData) === undefined) {
    note(true, "customData", "not a JSON object");
  }
  if (order.spot?.maxPrice !== undefined && !(Number(order.spot.maxPrice) >= 0)) {
    note(true, "spotPriceMax", `${order.spot.maxPrice} is not a price`);
  }
  if (order.spot !== undefined && reservationOf(order)) {
    note(true, "hardwareReservation_id", "a reserved machine can't be bought on the spot market");
  }
  for (const [name, wish] of Object.entries(order.features ?? {})) {
    if (wish !== "required" && wish !== "preferred") {
      note(true, "features", `${name} is ${wish}: neither required nor preferred`);
    }
  }
  if (order.noSshKeys && (order.userSshKeys?.length || order.projectSshKeys?.length)) {
    note(false, "nosshKeys", "the listed keys are not installed");
  }
  if (order.boot.userData.startsWith("#!ipxe") && order.boot.scriptUrl !== "") {
    note(false, "userdata", "an iPXE script in the user data is run instead of the script's URL");
  }
  if (order.operatingSystem !== "custom_ipxe" && order.boot.scriptUrl !== "") {
    note(false, "operating_system", "the boot script is only run with custom_ipxe");
  }
  return concerns;
}

/** The order as the API takes it. Call it only for orders without a fatal concern. */
export function wireOrder(order: Order, account: Names): WireOrder {
  const { boot, spot } = order;
  const maxPrice = Number(spot?.maxPrice ?? 0);
  return {
    metro: metroFor(order, account) ?? "",
    plan: mapped(account.planMapping, order.placement.plan),
    operating_system: order.operatingSystem,
    hostname: order.hostname,
    tags: [claimTag(order.claim), ...order.tags.filter((tag) => tag !== claimTag(order.claim))],
    ...(order.billingCycle ? { billing_cycle: order.billingCycle } : {}),
    ...(order.description ? { description: order.description } : {}),
    ...(boot.userData === "" ? {} : { userdata: boot.userData }),
    ...(boot.scriptUrl === "" ? {} : { ipxe_script_url: boot.scriptUrl }),
    ...(order.alwaysPxe ? { always_pxe: true } : {}),
    ...(spot === undefined ? {} : { spot_instance: true }),
    // Zero means no own limit to the addon, and a bid of nothing to the API.
    ...(maxPrice > 0 ? { spot_price_max: maxPrice } : {}),
    ...(reservationOf(order) ? { hardware_reservation_id: reservationOf(order)! } : {}),
    ...features(order.features),
    ...(order.customData ? { customdata: jsonObject(order.customData) ?? {} } : {}),
    ...(order.userSshKeys?.length ? { user_ssh_keys: order.userSshKeys } : {}),
    ...(order.projectSshKeys?.length ? { project_ssh_keys: order.projectSshKeys } : {}),
    ...(order.sshPublicKeys?.length ? { ssh_keys: order.sshPublicKeys.map(publicKey) } : {}),
    ...(order.noSshKeys ? { no_ssh_keys: true } : {}),
    ...(order.publicIPv4SubnetSize ? { public_ipv4_subnet_size: order.publicIPv4SubnetSize } : {}),
  };
}

/** The document's short form, a list, says that all are required; the map is only needed for preferences. */
function features(wish: Order["features"]): Pick<WireOrder, "features"> {
  const entries = Object.entries(wish ?? {});
  if (entries.length === 0) return {};
  if (entries.every(([, value]) => value === "required")) return { features: entries.map(([name]) => name) };
  return { features: Object.fromEntries(entries) };
}

/** A key with a label, which the API wants: the key's own comment. */
function publicKey(key: string): { key: string; label: string } {
  return { key, label: key.trim().split(/\s+/)[2] ?? "slipway" };
}

function reservationOf({ reservation, placement }: Order): string | undefined {
  return placement.reservation || reservation || undefined;
}

const metroFor = ({ placement }: Order, account: Names): string | undefined => metroAt(placement, account);

/** The API's name of the metro that is meant; undefined: none is. */
export function metroAt(placement: Placement, account: Pick<ProviderAccount, "metroMapping">): string | undefined {
  const name = placement.metro || placement.facility?.map(metroOf).find((metro) => metro !== undefined);
  return name === undefined ? undefined : mapped(account.metroMapping, name);
}

/** The API's name of what the user calls by his own. */
export function mapped(mapping: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(mapping, name) ? mapping[name]! : name;
}

function jsonObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
