/** Which hosts an order may have, by what the MachineProvider says of plans and metros. Pure. */
import { parseQuantity, quantityNumber } from "@slipway/base";
import type { LabelSelector } from "@slipway/kube";
import type { HardwareWish, HostWish } from "../../../inventory/claims/choose.ts";
import { GROUP_LABEL, groupLabel } from "../../../inventory/claims/claim.ts";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import type { HostOffer } from "../../../kinds/slipway/machine-provider.ts";
import type { Concern, HostHardware, Order } from "../../machine.ts";

/** What the inventory would refuse or ignore of an order. */
export function concernsAbout(order: Order, offer: HostOffer): Concern[] {
  const concerns: Concern[] = [];
  const fatal = (field: string, message: string): unknown => concerns.push({ field, message, fatal: true });
  const ignored = (field: string, message: string): unknown => concerns.push({ field, message, fatal: false });
  const { plan, metro, facility } = order.placement;
  const isAny = plan === "" && order.host !== undefined;
  if (!isAny && own(offer.plans, plan) === undefined)
    fatal("spec.plan", `the MachineProvider has no plan ${plan}, but ${Object.keys(offer.plans).join(", ")}`);
  if (metro !== undefined && offer.metros === undefined) ignored("spec.metro", "the MachineProvider has no metros");
  else if (metro !== undefined && own(offer.metros!, metro) === undefined)
    fatal("spec.metro", `the MachineProvider has no metro ${metro}, but ${Object.keys(offer.metros!).join(", ")}`);
  if (facility !== undefined) ignored("spec.facility", "the inventory has metros in its place");
  if (order.boot.userData !== "")
    fatal("spec.userdata", "hosts of your own have no metadata service: user data can't reach the machine");
  if (order.spot !== undefined) ignored("spec.spotInstance", "hosts of your own have no price");
  if (order.reservation !== undefined || order.placement.reservation !== undefined)
    ignored("spec.hardwareReservation_id", "use labels and a plan that selects them");
  for (const [field, message] of unheeded(order)) ignored(`spec.${field}`, message);
  return concerns;
}

/** What clouds keep of an order, or do with it, and hosts do not. */
function unheeded(order: Order): [field: string, message: string][] {
  const keys = [...(order.userSshKeys ?? []), ...(order.projectSshKeys ?? []), ...(order.sshPublicKeys ?? [])];
  const given: [boolean, field: string, message: string][] = [
    [(order.billingCycle ?? "hourly") !== "hourly", "billingCycle", "hosts of your own have no price"],
    [order.projectId !== undefined, "projectID", "hosts of your own have no projects"],
    [order.tags.length > 0, "tags", "hosts have labels, which their owner sets"],
    [order.description !== undefined, "description", "hosts have a description of their own"],
    [keys.length > 0, "sshKeys", "keys are in what the host installs: no others get there"],
    [Object.keys(order.features ?? {}).length > 0, "features", "let the plan of the MachineProvider select by labels"],
    [order.customData !== undefined, "customData", "hosts of your own have no metadata service"],
    [order.publicIPv4SubnetSize !== undefined, "publicIPv4SubnetSize", "addresses are those of your network"],
    [order.alwaysPxe === true, "alwaysPxe", "a host boots its script once, and its disk from then on"],
  ];
  return given.flatMap(([isGiven, field, message]) => (isGiven ? [[field, message]] : []));
}

/** What is asked of a host for this order. `hosts`: all, of which those of the same group are spread. */
export function wishOf(order: Order, offer: HostOffer, hosts: readonly BareMetalHost[]): HostWish {
  const { plan, metro } = order.placement;
  const { hostSelector = {}, hardware } = own(offer.plans, plan) ?? {};
  const where = metro === undefined ? {} : (own(offer.metros ?? {}, metro) ?? {});
  const { topologyLabel: label } = offer;
  const { macs, labels = {}, hardware: chosen } = order.host ?? {};
  const least = [hardware, chosen].flatMap((each) => (each === undefined ? [] : [leastOf(each)]));
  return {
    namespaces: offer.namespaces,
    labels: both(both(hostSelector, where), labels),
    ...(macs !== undefined && { macs }),
    ...(least.length > 0 && { hardware: least.reduce(more) }),
    ...(label !== undefined && { spread: { label, taken: takenBy(order, label, hosts) } }),
  };
}

function own<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

function both(one: LabelSelector, other: LabelSelector): LabelSelector {
  const labels = [one, other].flatMap(({ matchLabels = {} }) =>
    Object.entries(matchLabels).map(([key, value]) => ({ key, operator: "In", values: [value] })),
  );
  return { matchExpressions: [...labels, ...(one.matchExpressions ?? []), ...(other.matchExpressions ?? [])] };
}

/** What satisfies both. Of two architectures the second counts: no host has both. */
function more(one: HardwareWish, other: HardwareWish): HardwareWish {
  const larger = (name: "cpus" | "memoryMebibytes" | "diskGibibytes") => {
    const most = Math.max(one[name] ?? 0, other[name] ?? 0);
    return most > 0 && { [name]: most };
  };
  return { ...one, ...other, ...larger("cpus"), ...larger("memoryMebibytes"), ...larger("diskGibibytes") };
}

function leastOf({ cpus, memory, disk, architecture }: HostHardware): HardwareWish {
  return {
    ...(cpus !== undefined && { cpus }),
    ...(memory !== undefined && { memoryMebibytes: bytes(memory) / 2 ** 20 }),
    ...(disk !== undefined && { diskGibibytes: bytes(disk) / 2 ** 30 }),
    ...(architecture !== undefined && { architecture }),
  };
}

function bytes(text: string): number {
  return quantityNumber(parseQuantity(text));
}

/** The racks of the group's hosts, one for each host. */
function takenBy({ group }: Order, label: string, hosts: readonly BareMetalHost[]): string[] {
  if (group === undefined) return [];
  const own = groupLabel(group);
  return hosts.flatMap(({ metadata: { labels = {} } }) =>
    labels[GROUP_LABEL] === own && labels[label] !== undefined ? [labels[label]] : [],
  );
}
