import { tryParseIp } from "@slipway/base";
import type { Address, Machine, Phase, Port } from "../../machine.ts";
import type { ServerAttributes, WireInterface, WireServer } from "./wire.ts";

/** The API's status → what Slipway makes of it. `disk_erasing` is part of a reinstall; `deploying` may be one, too. */
const PHASES: ReadonlyMap<string, Phase> = new Map(
  Object.entries({
    on: "running",
    off: "stopped",
    deploying: "building",
    disk_erasing: "reinstalling",
    failed_deployment: "failed",
    rescue_mode: "unknown",
    unknown: "unknown",
  } satisfies Record<string, Phase>),
);

/** A server reads `off` for a moment between its order and its deployment. */
const FRESH_MS = 120_000;

export interface Sighting {
  claim: string | undefined;
  /** Numbers of the server's virtual networks. */
  vlans: readonly string[];
  /** ms since the epoch. */
  now: number;
  /** This driver has asked for its release. */
  released: boolean;
}

/** A server as the API reports it, in the port's terms. */
export function machineOf({ id, attributes = {} }: WireServer, { claim, vlans, now, released }: Sighting): Machine {
  const status = attributes.status ?? "unknown";
  const createdAt = timeOf(attributes.created_at);
  const fresh = status === "off" && createdAt !== undefined && now - createdAt < FRESH_MS;
  return {
    id,
    claim,
    hostname: attributes.hostname ?? "",
    phase: released ? "releasing" : fresh ? "building" : (PHASES.get(status) ?? "unknown"),
    providerState: status,
    plan: attributes.plan?.slug ?? attributes.plan?.name,
    metro: attributes.region?.site?.slug ?? attributes.site,
    addresses: addressesOf(attributes),
    ports: portsOf(id, attributes, vlans),
    locked: attributes.locked === true,
    terminatesAt: timeOf(attributes.scheduled_deletion_at),
    progress: undefined,
    lastEvent: status === "rescue_mode" ? "the server is in rescue mode" : undefined,
    createdAt,
  };
}

/** A time of the API in ms since the epoch; undefined for none. */
export function timeOf(text: string | null | undefined): number | undefined {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}

function addressesOf({ primary_ipv4, primary_ipv6 }: Partial<ServerAttributes>): Address[] {
  return [primary_ipv4, primary_ipv6].flatMap((address) => {
    const ip = tryParseIp(address ?? "");
    return ip === undefined || !address ? [] : [{ address, family: ip.family, public: true, management: true }];
  });
}

/** The API assigns virtual networks to the server, not to a port: they are shown on its internal one, where they arrive. */
function portsOf(id: string, { interfaces = [] }: Partial<ServerAttributes>, vlans: readonly string[]): Port[] {
  const usable = interfaces.filter((one) => one.role !== "ipmi");
  const carrier = usable.find((one) => one.role === "internal") ?? usable[0];
  if (carrier === undefined) return vlans.length === 0 ? [] : [portOf(id, {}, 0, vlans)];
  return usable.map((one, index) => portOf(id, one, index, one === carrier ? vlans : []));
}

function portOf(id: string, { name, mac_address }: WireInterface, index: number, vlans: readonly string[]): Port {
  return {
    id: `${id}/${name ?? index}`,
    name: name ?? `port${index}`,
    kind: mac_address ? "physical" : "bond",
    mac: mac_address?.toLowerCase() ?? undefined,
    bonded: false,
    bond: undefined,
    networkType: vlans.length > 0 ? "hybrid" : "layer3",
    disbondable: false,
    vlans,
    nativeVlan: undefined,
  };
}
