import { checkedSnapshot, unusable } from "../snapshot-check.ts";
import { planFacts } from "./catalog.ts";
import type { Cloud } from "./cloud.ts";
import type { SimDevice, SimPort } from "./device.ts";
import { facilityOf } from "./facilities.ts";
import { bodyOf } from "./racking.ts";
import { type SavedDevice, type SavedPort, Snapshot } from "./snapshot.ts";

/**
 * Fills a new cloud with what a snapshot holds; nothing has power yet. Each disk is handed back to the firmware.
 * Throws a `Fault` (`Invalid`) for a snapshot of another version, a damaged one, or one that speaks of what it does not hold.
 */
export function restore(cloud: Cloud, value: unknown, from: string | undefined): void {
  const source = { on: "simulated Equinix Metal", from };
  const missing = (what: string): never => {
    throw unusable(source, `${what} is named and not there`);
  };
  const saved = checkedSnapshot(Snapshot, value, source);

  cloud.token = saved.token;
  cloud.racked = saved.racked;
  cloud.addresses.taken = saved.slots;
  refill(cloud.capacity, Object.entries(saved.capacity));
  refill(cloud.spotPrices, Object.entries(saved.spotPrices));
  for (const key of saved.sshKeys) cloud.sshKeys.set(key.id, { ...key, projectId: key.projectId });
  for (const vlan of saved.vlans) cloud.addVlan(vlan);
  for (const one of saved.purchases) cloud.purchases.set(one.id, { ...one, releasedAt: one.releasedAt });
  for (const one of saved.devices) {
    if (!cloud.purchases.has(one.id)) missing(`the purchase of device ${one.id}`);
    if (!cloud.projects.has(one.projectId)) missing(`project ${one.projectId}`);
    const device = racked(cloud, one, missing);
    cloud.place(device);
    if (one.disk !== undefined) cloud.firmware.recall?.(device.hardware, one.disk);
  }
  refillNetwork(cloud, saved);
  cloud.reservations.clear();
  for (const one of saved.reservations) {
    const device = one.device === undefined ? undefined : (cloud.devices.get(one.device) ?? missing(one.device));
    cloud.reservations.set(one.id, { ...one, device });
  }
}

function refillNetwork({ elastic, bgp, gateways, spotRequests }: Cloud, saved: Snapshot): void {
  for (const one of saved.blocks)
    elastic.blocks.set(one.id, { ...one, metro: one.metro, details: one.details, customData: one.customData });
  for (const one of saved.assignments) elastic.assignments.set(one.id, one);
  for (const one of saved.bgpConfigs) bgp.configs.set(one.projectId, { ...one, md5: one.md5 });
  for (const one of saved.bgpSessions) bgp.sessions.set(one.id, one);
  for (const one of saved.gateways) gateways.set(one.id, one);
  for (const one of saved.spotRequests) spotRequests.set(one.id, { ...one, endsAt: one.endsAt });
}

function racked(cloud: Cloud, saved: SavedDevice, missing: (what: string) => never): SimDevice {
  const { serial, disk, ports: savedPorts, ...lasting } = saved;
  const ports: SimPort[] = [];
  const device: SimDevice = {
    ...lasting,
    plan: planFacts(saved.plan) ?? missing(`plan ${saved.plan}`),
    hardware: bodyOf(() => device, ports, serial),
    ports,
    facility: saved.facility ?? facilityOf(saved.metro),
    reservation: saved.reservation,
    description: saved.description,
    terminatesAt: saved.terminatesAt,
    events: saved.events.map((event) => ({ ...event, state: event.state })),
    stage: saved.stage,
    runs: saved.runs,
    powered: undefined,
    timer: undefined,
    revocation: undefined,
    boot: undefined,
    shown: new Map(),
  };
  // A bond stands before its members.
  for (const port of savedPorts) ports.push(wired(cloud, device, port, missing));
  return device;
}

function wired(cloud: Cloud, device: SimDevice, saved: SavedPort, missing: (what: string) => never): SimPort {
  const vlan = (id: string) => cloud.vlans.get(id) ?? missing(`virtual network ${id}`);
  const bond = (name: string) => device.ports.find((port) => port.name === name) ?? missing(`port ${name}`);
  return {
    ...saved,
    device,
    mac: saved.mac,
    bond: saved.bond === undefined ? undefined : bond(saved.bond),
    vlans: saved.vlans.map(vlan),
    native: saved.native === undefined ? undefined : vlan(saved.native),
  };
}

function refill<V>(map: Map<string, V>, entries: Iterable<[string, V]>): void {
  map.clear();
  for (const [key, value] of entries) map.set(key, value);
}
