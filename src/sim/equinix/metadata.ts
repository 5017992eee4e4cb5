import { type HttpHandler, json, plain } from "@slipway/base";
import type { Cloud } from "./cloud.ts";
import { networkType, type SimDevice } from "./device.ts";
import { time } from "./place-views.ts";

export const METADATA_ORIGIN = "https://metadata.platformequinix.com";

/** What a machine can read of itself. */
export function metadataOf(cloud: Cloud, device: SimDevice) {
  const physical = device.ports.filter((port) => port.kind === "physical");
  return {
    id: device.id,
    hostname: device.hostname,
    plan: device.plan.slug,
    class: device.plan.slug,
    metro: device.metro,
    facility: device.facility,
    state: device.state,
    tags: device.tags,
    ssh_keys: device.sshKeys.flatMap((id) => cloud.sshKeys.get(id)?.key ?? []),
    customdata: device.customData,
    operating_system: { slug: device.operatingSystem },
    reserved: device.reservation !== undefined,
    volumes: [],
    network: {
      bonding: { mode: 4 },
      network_type: networkType(device.ports[0]!),
      interfaces: physical.map(({ name, mac, bond, bonded }) => ({ name, mac, bond: bonded ? bond?.name : null })),
      addresses: device.addresses.map((one) => ({
        id: one.id,
        address: one.address,
        address_family: one.family,
        public: one.public,
        management: true,
        cidr: one.cidr,
        gateway: one.gateway,
      })),
    },
    ...(device.terminatesAt === undefined ? {} : { spot: { termination_time: time(device.terminatesAt) } }),
    api_url: METADATA_ORIGIN,
    phone_home_url: `${METADATA_ORIGIN}/phone-home`,
    user_state_url: `${METADATA_ORIGIN}/events`,
  };
}

/** The same as the API shows it, where addresses are texts. */
export function metadataInApi(cloud: Cloud, device: SimDevice): object {
  const metadata = metadataOf(cloud, device);
  return { ...metadata, network: { ...metadata.network, addresses: device.addresses.map(({ address }) => address) } };
}

const EC2 = "/2009-04-04/meta-data/";
const USER_STATES = ["running", "succeeded", "failed"];

/** The metadata service: who asks is known by the address it asks from. */
export function metadataService(cloud: Cloud): HttpHandler {
  return async (request) => {
    const device = cloud.byAddress.get(request.remote);
    if (device === undefined) return plain(404, "no metadata for this address\n");
    const { pathname } = new URL(request.url, METADATA_ORIGIN);
    if (request.method === "POST") return post(cloud, device, pathname, request.body);
    if (pathname === "/metadata") return json(200, metadataOf(cloud, device));
    if (pathname === "/userdata" || pathname === "/2009-04-04/user-data") return plain(200, device.userData);
    if (pathname.startsWith(EC2)) {
      const value = ec2(device)[pathname.slice(EC2.length)];
      if (value !== undefined) return plain(200, value);
    }
    return plain(404, "not found\n");
  };
}

function ec2(device: SimDevice): Readonly<Record<string, string>> {
  const v4 = (isPublic: boolean): string =>
    device.addresses.find((one) => one.family === 4 && one.public === isPublic)?.address ?? "";
  return {
    "instance-id": device.id,
    hostname: device.hostname,
    plan: device.plan.slug,
    metro: device.metro,
    tags: device.tags.join("\n"),
    "public-ipv4": v4(true),
    "local-ipv4": v4(false),
  };
}

function post(cloud: Cloud, device: SimDevice, pathname: string, body: string | undefined): ReturnType<typeof plain> {
  if (pathname === "/phone-home") {
    cloud.record(device, "provisioning.110", "Device phoned home");
    cloud.changed();
    return plain(200, "");
  }
  if (pathname !== "/events") return plain(404, "not found\n");
  const { state, code, message } = parsed(body);
  const inRange = code === undefined || (typeof code === "number" && code >= 1000 && code <= 1099);
  if (typeof state !== "string" || !USER_STATES.includes(state) || !inRange)
    return json(422, { error: "invalid event" });
  cloud.record(device, `user.${code ?? 1000}`, typeof message === "string" ? message : state, state);
  cloud.changed();
  return plain(200, "");
}

function parsed(body: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
