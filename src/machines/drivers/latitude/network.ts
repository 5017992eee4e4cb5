import { Fault, isFault } from "@slipway/base";
import type { Machine, NetworkMode, NetworkWish } from "../../machine.ts";
import type { LatitudeClient } from "./client.ts";

/** A server always keeps its public network; virtual networks come on top of it. */
export const NETWORK_MODES: readonly NetworkMode[] = ["layer3", "hybrid"];

/** Ids of virtual networks → their numbers, as learned. */
export type VlanNumbers = Map<string, string>;

/**
 * Whether the server has the wished virtual networks: exactly these when a mode is named, at least these otherwise. Which
 * port the wish names does not matter, since the API assigns to the server.
 */
export function settled(machine: Machine, wish: NetworkWish, numbers: VlanNumbers): boolean {
  if (!expressible(wish)) return false;
  const { missing, surplus } = difference(vlansOf(machine), wish, numbers);
  return missing.length === 0 && surplus.length === 0;
}

export interface NetworkPorts {
  client: LatitudeClient;
  numbers: VlanNumbers;
  project: (signal?: AbortSignal) => Promise<string>;
}

/** Removes surplus assignments, then adds the missing ones. Resolves with whether any call was made. */
export async function setVlans(
  machine: Machine,
  wish: NetworkWish,
  ports: NetworkPorts,
  signal?: AbortSignal,
): Promise<boolean> {
  const on = `server ${machine.hostname}`;
  if (!expressible(wish)) {
    const remedy = `use one of ${NETWORK_MODES.join(", ")}`;
    throw new Fault("Invalid", on, `Latitude can't set its ports to ${wish.mode}`, { remedy });
  }
  if (settled(machine, wish, ports.numbers)) return false;
  const { client, numbers } = ports;
  const assigned = await client.assignments(machine.id, signal);
  const ids = await networksIn(machine, ports, signal);
  const { missing, surplus } = difference(
    assigned.map((one) => String(one.attributes?.vid)),
    wish,
    numbers,
  );
  const absent = missing.find((vlan) => !ids.has(vlan));
  if (absent !== undefined) {
    throw new Fault(
      "MissingInput",
      on,
      `there is no virtual network ${absent} in site ${machine.metro ?? "(unknown)"}`,
      {
        remedy: "create one at Latitude, which chooses its number, and name that number or its id",
      },
    );
  }
  for (const { id, attributes } of assigned) {
    if (surplus.includes(String(attributes?.vid))) await ignoring("NotFound", client.unassign(id, signal));
  }
  for (const vlan of missing) await ignoring("AlreadyConfigured", client.assign(machine.id, ids.get(vlan)!, signal));
  return missing.length + surplus.length > 0;
}

/** Number → id of the project's virtual networks in the machine's site. */
async function networksIn(machine: Machine, ports: NetworkPorts, signal?: AbortSignal): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { id, attributes } of await ports.client.networks(await ports.project(signal), signal)) {
    if (attributes?.vid === undefined) continue;
    ports.numbers.set(id, String(attributes.vid));
    const site = attributes.region?.site?.slug ?? attributes.site;
    if (site === undefined || machine.metro === undefined || site === machine.metro)
      ids.set(String(attributes.vid), id);
  }
  return ids;
}

function vlansOf(machine: Machine): string[] {
  return machine.ports.flatMap((port) => port.vlans);
}

function difference(now: readonly string[], wish: NetworkWish, numbers: VlanNumbers) {
  const wished = new Set(wish.vlans.flatMap((entry) => entry.vlans).map((vlan) => numbers.get(vlan) ?? vlan));
  const exact = wish.mode !== undefined;
  return {
    missing: [...wished].filter((vlan) => !now.includes(vlan)),
    surplus: exact ? now.filter((vlan) => !wished.has(vlan)) : [],
  };
}

function expressible(wish: NetworkWish): boolean {
  return wish.mode === undefined || NETWORK_MODES.includes(wish.mode);
}

async function ignoring(code: "NotFound" | "AlreadyConfigured", call: Promise<void>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isFault(error, code)) throw error;
  }
}
