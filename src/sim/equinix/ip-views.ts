import { type Cidr, formatIp, netmask, networkOf, parseCidr } from "@slipway/base";
import type { Cloud } from "./cloud.ts";
import type { SimAssignment, SimBlock } from "./elastic.ts";
import { facilityView, href, metroView, time } from "./place-views.ts";

function places(metro: string | undefined): object {
  return metro === undefined ? {} : { metro: metroView(metro), facility: facilityView(`${metro}1`) };
}

function shape(cidr: Cidr): object {
  const network = networkOf(cidr);
  return {
    address_family: 4,
    cidr: cidr.prefix,
    netmask: netmask(cidr.prefix),
    network: formatIp(network.address),
  };
}

/** A reserved block as JSON. */
export function blockView(cloud: Cloud, block: SimBlock): object {
  const cidr = parseCidr(block.cidr);
  const given = cloud.elastic.assignedIn(block);
  return {
    ...href(`/ips/${block.id}`),
    ...shape(cidr),
    ...places(block.metro),
    id: block.id,
    type: block.type,
    address: formatIp(cidr.address),
    gateway: formatIp(networkOf(cidr).address),
    public: block.type !== "private_ipv4",
    global_ip: block.type === "global_ipv4",
    management: false,
    manageable: true,
    enabled: true,
    addon: true,
    bill: true,
    state: "created",
    available: `/${cidr.prefix}`,
    tags: block.tags,
    customdata: block.customData,
    ...(block.details !== undefined && { details: block.details }),
    project: href(`/projects/${block.projectId}`),
    project_lite: href(`/projects/${block.projectId}`),
    assignments: given.map((one) => assignmentView(cloud, one)),
    created_at: time(block.createdAt),
  };
}

/** Assigned addresses as JSON. */
export function assignmentView(cloud: Cloud, given: SimAssignment): object {
  const block = cloud.elastic.blockOf(given);
  const cidr = parseCidr(given.cidr);
  const parent = parseCidr(block.cidr);
  const isDevice = cloud.devices.has(given.to);
  return {
    ...href(`/ips/${given.id}`),
    ...shape(cidr),
    ...(block.metro !== undefined && { metro: metroView(block.metro) }),
    id: given.id,
    type: "IPAssignment",
    address: formatIp(cidr.address),
    gateway: formatIp(networkOf(cidr).address),
    public: block.type !== "private_ipv4",
    global_ip: block.type === "global_ipv4",
    management: false,
    manageable: true,
    enabled: true,
    state: "active",
    assigned_to: href(`/${isDevice ? "devices" : "metal-gateways"}/${given.to}`),
    parent_block: {
      ...href(`/ips/${block.id}`),
      cidr: parent.prefix,
      netmask: netmask(parent.prefix),
      network: formatIp(parent.address),
    },
    created_at: time(given.createdAt),
  };
}
