import type { Address, Machine, Phase, Port } from "../../machine.ts";
import { claimOf } from "./claim-tag.ts";
import type { WireAddress, WireDevice, WirePort, WireVlan } from "./wire.ts";

/** The document's device states. A device that changes its power is still in use: off is only what the API calls `inactive`. */
const PHASES: Readonly<Record<string, Phase>> = {
  queued: "building",
  provisioning: "building",
  active: "running",
  powering_on: "running",
  powering_off: "running",
  inactive: "stopped",
  reinstalling: "reinstalling",
  deprovisioning: "releasing",
  deleted: "releasing",
  failed: "failed",
};

/** Ids of VLANs → their numbers, learned from every answer that names both. */
export type VlanNumbers = Map<string, string>;

/** A device as the port's machine. `numbers` is added to. */
export function machineOf(device: WireDevice, numbers: VlanNumbers): Machine {
  const state = device.state ?? "";
  return {
    id: device.id,
    claim: claimOf(device.tags),
    hostname: device.hostname ?? "",
    phase: PHASES[state] ?? "unknown",
    providerState: state,
    plan: device.plan?.slug,
    metro: device.metro?.code,
    addresses: (device.ip_addresses ?? []).flatMap(addressOf),
    ports: (device.network_ports ?? []).map((port) => portOf(port, numbers)),
    locked: device.locked === true,
    terminatesAt: time(device.termination_time),
    progress: device.provisioning_percentage ?? undefined,
    lastEvent: lastEvent(device),
    createdAt: time(device.created_at),
    tags: (device.tags ?? []).filter((tag) => claimOf([tag]) === undefined),
  };
}

/** The machine of a device; undefined once that was deleted. */
export function presentMachine(device: WireDevice, numbers: VlanNumbers): Machine | undefined {
  return device.state === "deleted" ? undefined : machineOf(device, numbers);
}

function addressOf(wire: WireAddress): Address[] {
  if (wire.address === undefined || (wire.address_family !== 4 && wire.address_family !== 6)) return [];
  const { address, address_family: family } = wire;
  return [{ address, family, public: wire.public === true, management: wire.management === true }];
}

function portOf(wire: WirePort, numbers: VlanNumbers): Port {
  const native = wire.native_virtual_network;
  return {
    id: wire.id,
    name: wire.name ?? "",
    kind: wire.type === "NetworkBondPort" ? "bond" : "physical",
    mac: wire.data?.mac ?? undefined,
    bonded: wire.data?.bonded === true,
    bond: wire.bond?.name,
    networkType: wire.network_type ?? undefined,
    disbondable: wire.disbond_operation_supported === true,
    vlans: (wire.virtual_networks ?? []).map((vlan) => vlanNumber(vlan, numbers)),
    nativeVlan: native === null || native === undefined ? undefined : vlanNumber(native, numbers),
  };
}

/** A VLAN's number; its id, as long as no answer has said the number. */
export function vlanNumber(vlan: WireVlan, numbers: VlanNumbers): string {
  const id = vlan.id ?? vlan.href?.slice(vlan.href.lastIndexOf("/") + 1) ?? "";
  if (vlan.vxlan !== undefined) numbers.set(id, String(vlan.vxlan));
  return numbers.get(id) ?? id;
}

function lastEvent(device: WireDevice): string | undefined {
  // The API lists what is still to come as well, without a time.
  const past = (device.provisioning_events ?? []).filter((event) => time(event.created_at) !== undefined);
  const newest = past.reduce<(typeof past)[number] | undefined>(
    (best, event) => (best === undefined || time(event.created_at)! >= time(best.created_at)! ? event : best),
    undefined,
  );
  return newest?.interpolated ?? newest?.body ?? undefined;
}

function time(text: string | null | undefined): number | undefined {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}
