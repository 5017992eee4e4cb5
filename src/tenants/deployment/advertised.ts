import { lookup } from "node:dns/promises";
import { Fault, isFault, tryParseIp } from "@slipway/base";
import type { Deployment } from "@slipway/kube/core";
import type { Plane } from "../plane.ts";

/** The addresses of a name. Rejects where it has none. */
export type Lookup = (name: string) => Promise<readonly string[]>;

/** As this machine's resolver finds them. */
export const systemLookup: Lookup = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

const FLAG = "--advertise-address=";

/**
 * The plane with an address for the Service `kubernetes` in the tenant, which takes no name: where a load balancer gives a name (B21), one
 * of that name's. The one that is in use stays while the name has it, and while nobody can say what the name has.
 */
export async function withAddress(plane: Plane, live: Deployment | undefined, find: Lookup): Promise<Plane> {
  if (plane.advertiseAddress || tryParseIp(plane.host) !== undefined) return plane;
  const held = heldIn(live);
  const found = await find(plane.host).catch((error: unknown) => {
    if (held !== undefined) return [held];
    if (isFault(error, "Unavailable")) throw error;
    throw new Fault("Unavailable", plane.host, "the load balancer's name has no address yet", { cause: error });
  });
  const [first] = found.toSorted();
  const advertiseAddress = held !== undefined && found.includes(held) ? held : first;
  return advertiseAddress === undefined ? plane : { ...plane, advertiseAddress };
}

function heldIn(live: Deployment | undefined): string | undefined {
  const { containers = [] } = (live?.spec?.template?.spec ?? {}) as { containers?: { args?: string[] }[] };
  const flag = containers.flatMap(({ args = [] }) => args).find((arg) => arg.startsWith(FLAG));
  return flag?.slice(FLAG.length);
}
