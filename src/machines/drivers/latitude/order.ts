import type { Concern, Order } from "../../machine.ts";
import type { ProviderAccount } from "../../provider.ts";
import { concernsOf, refuse, warn } from "../concern-rules.ts";
import type { OrderAttributes } from "./wire.ts";

type Names = Pick<ProviderAccount, "project" | "planMapping" | "metroMapping">;

const BILLING: ReadonlySet<string> = new Set(["hourly", "monthly", "yearly"]);

/** Other names of operating systems in people's manifests → Latitude's. Names not listed pass unchanged. */
const OPERATING_SYSTEMS: Readonly<Record<string, string>> = {
  custom_ipxe: "ipxe",
  debian_11: "debian_11",
  debian_12: "debian_12",
  rocky_8: "rockylinux_8",
  ubuntu_20_04: "ubuntu_20_04_x64_lts",
  ubuntu_22_04: "ubuntu_22_04_x64_lts",
  ubuntu_24_04: "ubuntu_24_04_x64_lts",
};

/** What of an order Latitude would refuse or ignore. Pure. */
export function concernsAbout(order: Order, account: Names): readonly Concern[] {
  const { plan, metro, facility = [] } = order.placement;
  const ipxe = operatingSystem(order) === "ipxe";
  const { scriptUrl, userData } = order.boot;
  return concernsOf([
    refuse(plan === "", "plan", "a plan is required"),
    refuse(
      !metro,
      "metro",
      "a metro is required: Latitude's site, such as DAL, or a name that metroMapping translates",
    ),
    warn(facility.length > 0, "facility", "Latitude has no facilities: not sent"),
    refuse(order.operatingSystem === "", "operating_system", "an operating system is required"),
    refuse(order.spot !== undefined, "spot", "Latitude has no spot market: it would be billed in full"),
    refuse(
      order.reservation || order.placement.reservation,
      "hardwareReservation_id",
      "Latitude has no reservations of single machines: it would be billed in full",
    ),
    warn(
      order.billingCycle && !BILLING.has(order.billingCycle),
      "billingCycle",
      `Latitude does not bill ${order.billingCycle}: billed hourly instead`,
    ),
    refuse(
      order.projectId && order.projectId !== account.project && isId(account.project),
      "projectID",
      `the provider's account serves project ${account.project}; name another MachineProvider for this one`,
    ),
    refuse(ipxe && !/^https?:\/\//.test(scriptUrl), "operating_system", "an iPXE boot needs the URL of a script"),
    warn(!ipxe && scriptUrl !== "", "operating_system", "the boot script is only run with custom_ipxe"),
    warn(
      ipxe && userData !== "",
      "userdata",
      "a machine that boots from the network gets its configuration through its boot script: Latitude stores the user data, but promises to hand it only to its own images",
    ),
    warn(order.sshPublicKeys?.length, "sshKeys", "Latitude takes keys by their ids: the others are not sent"),
    warn(Object.keys(order.features ?? {}).length > 0, "features", "Latitude has no features to ask for: not sent"),
    warn(order.customData, "customData", "Latitude keeps no custom data: not sent"),
    warn(order.description, "description", "Latitude keeps no description: not sent"),
    warn(
      order.tags.length > 0,
      "tags",
      "Latitude takes tags only as ids of the team's tags, and not with an order: not sent",
    ),
    warn(order.alwaysPxe, "alwaysPxe", "after its deployment a server of Latitude boots from its disk"),
    warn(order.publicIPv4SubnetSize, "publicIPv4SubnetSize", "Latitude chooses the server's subnet: not sent"),
  ]);
}

/** The order as the API takes it, with the claim's mark in it. Call it only for orders without a fatal concern. */
export function wireOrder(order: Order, account: Names, bound: { project: string; userData: string }): OrderAttributes {
  const keys = [...(order.userSshKeys ?? []), ...(order.projectSshKeys ?? [])];
  const slug = operatingSystem(order);
  return {
    project: bound.project,
    plan: planOf(order.placement.plan, account),
    site: siteOf(order.placement.metro!, account),
    operating_system: slug,
    hostname: order.hostname,
    user_data: bound.userData,
    ...(order.noSshKeys ? { ssh_keys: [] } : keys.length > 0 ? { ssh_keys: keys } : {}),
    ...(slug === "ipxe" ? { ipxe: order.boot.scriptUrl } : {}),
    ...(order.billingCycle ? { billing: BILLING.has(order.billingCycle) ? order.billingCycle : "hourly" } : {}),
  };
}

/** Whether the text is a project's id rather than its slug or name. */
export function isId(project: string): boolean {
  return /^proj_\w+$/.test(project);
}

function operatingSystem(order: Order): string {
  return own(OPERATING_SYSTEMS, order.operatingSystem) ?? order.operatingSystem;
}

/** A plan's name differs from its slug, which the API wants, by dots: `c3.small.x86`. */
export function planOf(plan: string, account: Pick<Names, "planMapping">): string {
  return own(account.planMapping, plan) ?? plan.replaceAll(".", "-");
}

/** Sites are upper case. */
/** Latitude's name of a place. */
export function siteOf(metro: string, account: Pick<Names, "metroMapping">): string {
  return own(account.metroMapping, metro) ?? metro.toUpperCase();
}

function own(map: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
