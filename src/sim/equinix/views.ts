import { PLANS, type PlanFacts } from "./catalog.ts";
import type { Cloud, SshKey } from "./cloud.ts";
import {
  membersOf,
  networkType,
  type SimAddress,
  type SimDevice,
  type SimEvent,
  type SimPort,
  type SimVlan,
} from "./device.ts";
import { assignmentView } from "./ip-views.ts";
import { OPERATING_SYSTEMS, type OperatingSystem } from "./operating-systems.ts";
import type { SimProject } from "./options.ts";
import { facilityView, href, idOf, metroView, time } from "./place-views.ts";

/** What of a device's references is shown whole, and what only as a reference. */
export interface Detail {
  vlans: boolean;
  excluded: readonly string[];
  /** The same for equal details. */
  key: string;
}

/** Reads the `include` and `exclude` parameters, as far as they concern what this cloud nests. */
export function detailOf(query: URLSearchParams): Detail {
  const names = (parameter: string): string[] => (query.get(parameter) ?? "").split(",").filter((name) => name !== "");
  const vlans = names("include").some((path) => path.split(".").includes("virtual_networks"));
  const excluded = names("exclude").filter((name) => !name.includes("."));
  return { vlans, excluded, key: `${vlans}/${excluded.join()}` };
}

/** A device as JSON. Made once per change and detail: a list of thousands is mostly joined text. */
export function deviceText(cloud: Cloud, device: SimDevice, detail: Detail): string {
  const known = device.shown.get(detail.key);
  if (known !== undefined) return known;
  const text = JSON.stringify(deviceView(cloud, device, detail));
  device.shown.set(detail.key, text);
  return text;
}

function deviceView(cloud: Cloud, device: SimDevice, detail: Detail): object {
  const nested: Record<string, unknown> = {
    plan: planView(device.plan),
    metro: metroView(device.metro),
    facility: facilityView(device.facility),
    project: href(`/projects/${device.projectId}`),
    operating_system: operatingSystemView(
      OPERATING_SYSTEMS.find(({ slug }) => slug === device.operatingSystem) ?? {
        ...{ slug: device.operatingSystem, name: device.operatingSystem, distro: "", version: "" },
      },
    ),
  };
  for (const name of detail.excluded) if (name in nested) nested[name] = href(`/devices/${device.id}/${name}`);
  return {
    ...href(`/devices/${device.id}`),
    id: device.id,
    short_id: device.id.slice(0, 8),
    hostname: device.hostname,
    ...(device.description === undefined ? {} : { description: device.description }),
    state: device.state,
    tags: device.tags,
    billing_cycle: device.billingCycle,
    always_pxe: device.alwaysPxe,
    ipxe_script_url: device.scriptUrl,
    userdata: device.userData,
    customdata: device.customData,
    locked: device.locked,
    network_frozen: device.networkFrozen,
    spot_instance: device.spot,
    ...(device.terminatesAt === undefined ? {} : { termination_time: time(device.terminatesAt) }),
    ...(device.reservation === undefined
      ? {}
      : { hardware_reservation: href(`/hardware-reservations/${device.reservation}`) }),
    provisioning_percentage: PERCENTAGE[device.state] ?? 100,
    provisioning_events: device.events.filter(({ type }) => type.startsWith("provisioning.")).map(eventView),
    ip_addresses: [
      ...device.addresses.map((one) => addressView(one, device)),
      ...cloud.elastic.assignedTo(device.id).map((one) => assignmentView(cloud, one)),
    ],
    network_ports: device.ports.map((port) => portView(port, detail)),
    ssh_keys: device.sshKeys.map((id) => href(`/ssh-keys/${id}`)),
    volumes: [],
    actions: actions(device),
    created_at: time(device.createdAt),
    updated_at: time(device.updatedAt),
    ...nested,
  };
}

const PERCENTAGE: Readonly<Record<string, number>> = { queued: 0, provisioning: 50, reinstalling: 50 };

function actions({ state }: SimDevice): object[] {
  if (state === "active") return ["power_off", "reboot", "rescue", "reinstall"].map((name) => ({ type: name, name }));
  return state === "inactive" ? [{ type: "power_on", name: "power_on" }] : [];
}

/** A port as JSON. */
export function portView(port: SimPort, detail: Detail): object {
  const vlan = (one: SimVlan): object => (detail.vlans ? vlanView(one) : href(`/virtual-networks/${one.id}`));
  const bonded = port.kind === "bond" ? membersOf(port).some((member) => member.bonded) : port.bonded;
  return {
    ...href(`/ports/${port.id}`),
    id: port.id,
    name: port.name,
    type: port.kind === "bond" ? "NetworkBondPort" : "NetworkPort",
    data: port.mac === undefined ? { bonded } : { mac: port.mac, bonded },
    ...(port.bond === undefined ? {} : { bond: { id: port.bond.id, name: port.bond.name } }),
    network_type: networkType(port),
    disbond_operation_supported: true,
    virtual_networks: port.vlans.map(vlan),
    ...(port.native === undefined ? {} : { native_virtual_network: vlanView(port.native) }),
  };
}

/** A VLAN as JSON. */
export function vlanView(vlan: SimVlan): object {
  return {
    ...href(`/virtual-networks/${vlan.id}`),
    id: vlan.id,
    vxlan: vlan.vxlan,
    description: vlan.description,
    metro_code: vlan.metro,
    metro: href(`/locations/metros/${idOf(`metro/${vlan.metro}`)}`),
    assigned_to: href(`/projects/${vlan.projectId}`),
    tags: [],
  };
}

/** An address that a device came with, as JSON. */
export function addressView(address: SimAddress, device: SimDevice): object {
  return {
    ...href(`/ips/${address.id}`),
    id: address.id,
    address: address.address,
    address_family: address.family,
    public: address.public,
    management: true,
    enabled: true,
    manageable: true,
    cidr: address.cidr,
    gateway: address.gateway,
    assigned_to: href(`/devices/${device.id}`),
    state: "active",
    created_at: time(device.createdAt),
  };
}

/** An event of a device as JSON. */
export function eventView(event: SimEvent): object {
  return {
    ...href(`/events/${event.id}`),
    id: event.id,
    type: event.type,
    body: event.body,
    interpolated: event.body,
    ...(event.state === undefined ? {} : { state: event.state }),
    created_at: time(event.at),
    relationships: [],
  };
}

/** A plan of the catalog as JSON. */
export function planView(plan: PlanFacts): object {
  return {
    id: idOf(`plan/${plan.slug}`),
    slug: plan.slug,
    name: plan.slug,
    class: plan.slug,
    line: "baremetal",
    type: "standard",
    deployment_types: ["on_demand", "spot_market"],
    pricing: { hour: plan.pricePerHour },
    specs: {
      cpus: [{ count: 1, type: `${plan.cpus} cores` }],
      memory: { total: `${plan.memoryGiB}GB` },
      drives: [{ count: 1, size: `${plan.diskGiB}GB`, type: "SSD" }],
      nics: [{ count: plan.bonds.flat().length, type: "10Gbps" }],
      features: { uefi: plan.firmware === "uefi" },
    },
  };
}

/** A project as JSON. */
export function projectView({ id, name }: SimProject): object {
  return { ...href(`/projects/${id}`), id, name, devices: [], ssh_keys: [], type: "default" };
}

/** An SSH key as JSON. */
export function sshKeyView({ id, label, key, projectId }: SshKey): object {
  const owner = href(projectId === undefined ? "/user" : `/projects/${projectId}`);
  return { ...href(`/ssh-keys/${id}`), id, label, key, entity: owner, owner };
}

/** A reference to a device, with its id beside. */
export function deviceReference(id: string): object {
  return { ...href(`/devices/${id}`), id };
}

/** An operating system as JSON. */
export function operatingSystemView({ slug, name, distro, version }: OperatingSystem): object {
  return {
    id: idOf(`os/${slug}`),
    slug,
    name,
    distro,
    version,
    provisionable_on: PLANS.map((plan) => plan.slug),
    licensed: false,
    preinstallable: false,
    pricing: {},
  };
}
