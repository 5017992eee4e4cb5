import type { Concern, Order, Placement } from "../../machine.ts";
import type { ProviderAccount } from "../../provider.ts";
import { type ConcernRule, concernsOf, refuse, warn } from "../concern-rules.ts";
import { claimTag } from "./claim-tag.ts";
import { metroOf } from "./placement.ts";
import type { WireOrder } from "./wire.ts";

const BILLING_CYCLES = ["hourly", "daily", "monthly", "yearly"];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Names = Pick<ProviderAccount, "project" | "planMapping" | "metroMapping">;

/** What of an order the Metal API would refuse, ignore or read differently. Pure. */
export function concernsAbout(order: Order, account: Names): readonly Concern[] {
  return concernsOf([
    ...placeRules(order, metroFor(order, account)),
    refuse(order.placement.plan === "", "plan", "a plan is required"),
    refuse(order.operatingSystem === "", "operating_system", "an operating system is required"),
    refuse(
      order.billingCycle && !BILLING_CYCLES.includes(order.billingCycle),
      "billingCycle",
      `${order.billingCycle} is none of ${BILLING_CYCLES.join(", ")}`,
    ),
    refuse(
      order.projectId && UUID.test(account.project) && order.projectId !== account.project,
      "projectID",
      `the provider's account serves project ${account.project}; name another MachineProvider for this one`,
    ),
    refuse(order.customData && jsonObject(order.customData) === undefined, "customData", "not a JSON object"),
    ...spotRules(order),
    ...Object.entries(order.features ?? {}).map(([name, wish]) =>
      refuse(
        wish !== "required" && wish !== "preferred",
        "features",
        `${name} is ${wish}: neither required nor preferred`,
      ),
    ),
    ...bootRules(order),
  ]);
}

function placeRules(order: Order, metro: string | undefined): ConcernRule[] {
  const { facility = [], metro: wished } = order.placement;
  const used = wished === undefined ? `; metro ${metro} is used instead` : `; metro ${metro} is used`;
  const instead = metro === undefined ? "" : used;
  return [
    warn(facility.length > 0, "facility", `facilities are deprecated and refused by the API: not sent${instead}`),
    // A reserved machine stands where it stands.
    refuse(
      metro === undefined && !reservationOf(order),
      "metro",
      "a metro is required, and none follows from the facility",
    ),
  ];
}

function spotRules(order: Order): ConcernRule[] {
  const maxPrice = order.spot?.maxPrice;
  return [
    refuse(maxPrice !== undefined && !(Number(maxPrice) >= 0), "spotPriceMax", `${maxPrice} is not a price`),
    refuse(
      order.spot !== undefined && reservationOf(order),
      "hardwareReservation_id",
      "a reserved machine can't be bought on the spot market",
    ),
  ];
}

function bootRules({ noSshKeys, userSshKeys, projectSshKeys, operatingSystem, boot }: Order): ConcernRule[] {
  const hasScript = boot.scriptUrl !== "";
  return [
    warn(
      noSshKeys && (userSshKeys?.length || projectSshKeys?.length),
      "nosshKeys",
      "the listed keys are not installed",
    ),
    warn(
      boot.userData.startsWith("#!ipxe") && hasScript,
      "userdata",
      "an iPXE script in the user data is run instead of the script's URL",
    ),
    warn(
      operatingSystem !== "custom_ipxe" && hasScript,
      "operating_system",
      "the boot script is only run with custom_ipxe",
    ),
  ];
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
    ...sshKeys(order),
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

function sshKeys({ userSshKeys, projectSshKeys, sshPublicKeys, noSshKeys }: Order): Partial<WireOrder> {
  return {
    ...(userSshKeys?.length ? { user_ssh_keys: userSshKeys } : {}),
    ...(projectSshKeys?.length ? { project_ssh_keys: projectSshKeys } : {}),
    ...(sshPublicKeys?.length ? { ssh_keys: sshPublicKeys.map(publicKey) } : {}),
    ...(noSshKeys ? { no_ssh_keys: true } : {}),
  };
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
