/** What a PacketMachine asks of its provider. Pure. */
import type { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import type { Claim } from "../../machines/lifecycle.ts";
import type { Boot, Concern, Order, Placement } from "../../machines/machine.ts";
import { type MachineNames, machineTags, roleTag } from "./names.ts";

const PROVISION_MS = 30 * 60_000;
const LAST_STAGE = { awaited: "its Machine's Node to join", missed: "no Node of the Machine" };

/** What a machine is ordered for. */
export interface Wanted {
  machine: PacketMachine;
  /** Unset: gone before its machines were. */
  cluster: PacketCluster | undefined;
  names: MachineNames;
  isControlPlane: boolean;
  /** Where the Machine says that it is to be. */
  failureDomain: string | undefined;
}

/** The claim. A machine that never joins is left to the cluster's MachineHealthChecks, which know how long that may take. */
export function claimOf(wanted: Wanted, pollMs: number): Claim {
  return {
    id: wanted.machine.metadata.uid,
    placements: placementsOf(wanted),
    network: undefined,
    passes: 1,
    provisionTimeoutMs: PROVISION_MS,
    joinTimeoutMs: Number.POSITIVE_INFINITY,
    pollMs,
    lastStage: LAST_STAGE,
  };
}

/** Reservations first, in their order; then every metro of the first plan, then every metro of the next. */
export function placementsOf({ machine: { spec }, cluster, failureDomain }: Wanted): Placement[] {
  // The original took both from the machine where it says either.
  const own = spec.metro || spec.facility ? spec : cluster?.spec;
  const facility = own?.facility ? { facility: [own.facility] } : {};
  const metros: (string | undefined)[] = distinct([failureDomain ?? own?.metro, ...(spec.metros ?? [])]);
  const plans = distinct([spec.machineType, ...(spec.machineTypes ?? [])]);
  const where = metros.length === 0 ? [undefined] : metros;
  const reserved = distinct((spec.hardwareReservationID ?? "").split(",").map((id) => id.trim()));
  const places = plans.flatMap((plan) => where.map((metro) => ({ plan, metro, ...facility })));
  if (reserved.length === 0) return places;
  // A reserved machine has one plan and one place.
  return reserved.map((reservation) => ({ ...places[0]!, reservation }));
}

/** The order for a machine. */
export function orderOf(
  wanted: Wanted,
  { placement, boot, projectId }: { placement: Placement; boot: Boot; projectId: string | undefined },
): Order {
  const { metadata, spec } = wanted.machine;
  const { apiVersion, kind } = {
    apiVersion: `${PacketMachine.group}/${PacketMachine.version}`,
    kind: PacketMachine.kind,
  };
  const { namespace } = metadata;
  const tags = [...machineTags(wanted.names), roleTag(wanted.isControlPlane), ...(spec.tags ?? [])];
  const price = spec.spot?.maxPrice;
  return {
    claim: metadata.uid,
    claimant: { apiVersion, kind, name: metadata.name, ...(namespace !== undefined && { namespace }) },
    group: `${wanted.names.namespace}.${wanted.names.cluster}`,
    hostname: metadata.name,
    placement,
    operatingSystem: spec.os,
    boot,
    tags: distinct(tags),
    ...(spec.billingCycle && { billingCycle: spec.billingCycle }),
    ...(projectId !== undefined && { projectId }),
    ...(spec.spot && { spot: price ? { maxPrice: price } : {} }),
    ...sshKeys(spec.sshKeys ?? []),
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Ids of the project's keys, and public keys themselves, as the original's templates have them. */
function sshKeys(keys: readonly string[]): Pick<Order, "projectSshKeys" | "sshPublicKeys"> {
  const given = keys.map((key) => key.trim()).filter((key) => key !== "");
  const ids = given.filter((key) => UUID.test(key) || /^ssh_\w+$/.test(key));
  const whole = given.filter((key) => !ids.includes(key));
  return {
    ...(ids.length > 0 && { projectSshKeys: ids }),
    ...(whole.length > 0 && { sshPublicKeys: whole }),
  };
}

/** What can't work, whichever provider serves it. */
export function specConcerns({ machine: { spec } }: Wanted): Concern[] {
  const fatal = (field: string, message: string): Concern => ({ field: `spec.${field}`, message, fatal: true });
  const price = spec.spot?.maxPrice;
  return [
    ...(spec.machineType === "" ? [fatal("machineType", "a plan is required")] : []),
    ...(spec.os === "" ? [fatal("os", "an operating system is required")] : []),
    ...(spec.ipxeURL && spec.os !== "custom_ipxe"
      ? [fatal("ipxeURL", "a boot script is only run with os custom_ipxe")]
      : []),
    ...(price && !(Number(price) >= 0) ? [fatal("spot.maxPrice", `"${price}" is not a price such as "0.5"`)] : []),
  ];
}

function distinct(list: readonly (string | null | undefined)[]): string[] {
  return [...new Set(list.filter((item): item is string => Boolean(item)))];
}
