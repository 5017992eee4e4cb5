import { type AddressWish, addressOf, DEFAULT_ADDRESSES } from "./addresses.ts";
import type { Cloud } from "./cloud.ts";
import { membersOf, type SimPort, type SimVlan } from "./device.ts";
import { unprocessable } from "./refused.ts";

/** Takes a port, or with `bulk` or on a bond all of its ports, into the bond. */
export function bond(cloud: Cloud, port: SimPort, bulk: boolean): void {
  mayConvert(port);
  const joining = affected(port, bulk).filter((one) => !one.bonded);
  if (joining.length === 0) throw unprocessable(`${port.name} is already bonded`);
  const holder = joining.find((one) => one.vlans.length > 0);
  if (holder !== undefined) throw unprocessable(`${holder.name} has virtual networks: unassign them before bonding`);
  for (const one of joining) one.bonded = true;
  cloud.touch(port.device);
}

/** The opposite of `bond`. */
export function disbond(cloud: Cloud, port: SimPort, bulk: boolean): void {
  mayConvert(port);
  const leaving = affected(port, bulk).filter((one) => one.bonded);
  if (leaving.length === 0) throw unprocessable(`${port.name} is already disbonded`);
  for (const one of leaving) one.bonded = false;
  cloud.touch(port.device);
}

/** The bond no longer carries addresses. */
export function toLayer2(cloud: Cloud, port: SimPort): void {
  mayConvert(port);
  isBond(port);
  if (port.layer === 2) throw unprocessable(`${port.name} is already configured for Layer 2`);
  port.layer = 2;
  if (isFirst(port)) cloud.setAddresses(port.device, []);
  cloud.touch(port.device);
}

/** The bond carries new addresses. */
export function toLayer3(cloud: Cloud, port: SimPort, wishes: readonly AddressWish[] = DEFAULT_ADDRESSES): void {
  mayConvert(port);
  isBond(port);
  if (port.layer === 3) throw unprocessable(`${port.name} is already layer3`);
  if (port.vlans.length > 0) throw unprocessable(`${port.name}: VLANs must first be unassigned`);
  if (!membersOf(port).some((member) => member.bonded)) throw unprocessable(`${port.name} is not bonded`);
  port.layer = 3;
  if (isFirst(port)) {
    const { device } = port;
    cloud.setAddresses(
      device,
      wishes.map((wish) => addressOf(device.slot, wish, cloud.random)),
    );
  }
  cloud.touch(port.device);
}

/** Puts a VLAN on a port. Throws `Refused` (422) where the real API refuses it. */
export function assign(cloud: Cloud, port: SimPort, vnid: string): void {
  const vlan = vlanCalled(cloud, port, vnid);
  if (port.kind === "physical" && port.bonded) {
    throw unprocessable(`${port.name} is in a bond: assign the virtual network to ${port.bond?.name}`);
  }
  if (port.vlans.includes(vlan))
    throw unprocessable(`Virtual network ${vlan.vxlan} is already assigned to ${port.name}`);
  port.vlans = [...port.vlans, vlan];
  cloud.touch(port.device);
}

/** Takes a VLAN off a port. Throws `Refused` (422) if it is not there, or is the native one. */
export function unassign(cloud: Cloud, port: SimPort, vnid: string): void {
  const vlan = vlanCalled(cloud, port, vnid);
  if (!port.vlans.includes(vlan)) throw unprocessable(`Virtual network ${vlan.vxlan} is not assigned to ${port.name}`);
  if (port.native === vlan) throw unprocessable(`Virtual network ${vlan.vxlan} is the native one: remove that first`);
  port.vlans = port.vlans.filter((one) => one !== vlan);
  cloud.touch(port.device);
}

/** Makes an assigned VLAN the native one. Throws `Refused` (422) for a bond, and with fewer than two VLANs on the port. */
export function setNative(cloud: Cloud, port: SimPort, vnid: string): void {
  const vlan = vlanCalled(cloud, port, vnid);
  if (port.kind === "bond") throw unprocessable(`${port.name} is a bond: it has no native VLAN`);
  if (!port.vlans.includes(vlan)) throw unprocessable(`Virtual network ${vlan.vxlan} is not assigned to ${port.name}`);
  if (port.vlans.length < 2) throw unprocessable("A native VLAN needs at least two virtual networks on the port");
  port.native = vlan;
  cloud.touch(port.device);
}

/** Leaves the port without a native VLAN. Throws `Refused` (422) if it has none. */
export function clearNative(cloud: Cloud, port: SimPort): void {
  if (port.native === undefined) throw unprocessable(`The native VLAN is not assigned to ${port.name}`);
  port.native = undefined;
  cloud.touch(port.device);
}

function vlanCalled(cloud: Cloud, { device }: SimPort, vnid: string): SimVlan {
  const vlan = cloud.vlan(device.projectId, device.metro, vnid);
  if (vlan === undefined) throw unprocessable(`Virtual network ${vnid} could not be found in ${device.metro}`);
  return vlan;
}

function affected(port: SimPort, bulk: boolean): readonly SimPort[] {
  if (port.kind === "bond") return membersOf(port);
  return bulk && port.bond !== undefined ? membersOf(port.bond) : [port];
}

function mayConvert({ device }: SimPort): void {
  if (device.networkFrozen) throw unprocessable("The network of this device is frozen");
  if (device.state === "deprovisioning") throw unprocessable("The device is being deleted");
}

function isBond(port: SimPort): void {
  if (port.kind !== "bond") throw unprocessable(`${port.name} is not a bond port`);
}

function isFirst(bond: SimPort): boolean {
  return bond.device.ports.find((port) => port.kind === "bond") === bond;
}
