import { tryParseIp } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import { at } from "../kinds/cluster-api/field-path.ts";
import { doingOf, stateOf } from "./standing.ts";

/** The label of ConfigMaps that hold a copy of netboot's DHCP leases; its value is the name of the netboot. */
export const LEASES_LABEL = "slipway.dev/dhcp-leases";

export interface LeaseRow {
  address: string;
  /** The card, or the client's identifier in hexadecimal digits. */
  client: string;
  state: string;
  /** Milliseconds since 1970. */
  until: number;
  /** Address of the relay; undefined: on the link. */
  relay?: string | undefined;
  /** The host that has this card, `namespace/name`. */
  host?: string | undefined;
}

/** Addresses that were given on one network. */
export interface SubnetUse {
  /** The relay that asks for it, or `on the link`. */
  via: string;
  first: string;
  last: string;
  bound: number;
  other: number;
}

export interface HostBoot {
  host: KubeObject;
  mac: string;
  state: string;
  doing: string;
  trust: string;
}

const LINE = /^(\d+\.\d+\.\d+\.\d+) (\d+|id)\/([0-9a-f]*) (bound|released|declined) (\d+)(?: via ([\d.]+)\/\S*)?$/;

/** Leases in ConfigMaps, by address. Lines that are none are left out. Pure. */
export function leasesOf(configMaps: readonly KubeObject[], hosts: readonly KubeObject[]): LeaseRow[] {
  const byMac = new Map(hosts.flatMap((host) => macsOf(host).map((mac) => [mac, nameOf(host)] as const)));
  const rows = configMaps.flatMap((map) =>
    String(at(map, "data.leases") ?? "")
      .split("\n")
      .flatMap((line) => leaseIn(line, byMac)),
  );
  return [...new Map(rows.map((row) => [row.address, row])).values()].sort(
    (a, b) => numberOf(a.address) - numberOf(b.address),
  );
}

function leaseIn(line: string, hosts: ReadonlyMap<string, string>): LeaseRow[] {
  const [, address, type, digits = "", state = "", until, relay] = LINE.exec(line) ?? [];
  if (address === undefined || tryParseIp(address) === undefined) return [];
  const mac = type === "1" && digits.length === 12 ? digits.match(/../g)!.join(":") : undefined;
  const host = mac === undefined ? undefined : hosts.get(mac);
  return [{ address, client: mac ?? digits, state, until: Number(until), relay, host }];
}

/** What of each network is in use, from its leases. `now`: milliseconds since 1970. Pure. */
export function subnetsOf(leases: readonly LeaseRow[], now: number): SubnetUse[] {
  return [...Map.groupBy(leases, ({ relay }) => relay ?? "on the link")].map(([via, rows]) => {
    const bound = rows.filter(({ state, until }) => state === "bound" && until > now).length;
    return { via, first: rows[0]!.address, last: rows.at(-1)!.address, bound, other: rows.length - bound };
  });
}

/** Hosts that were seen and that nobody uses. Pure. */
export function unleasedHosts<T extends KubeObject>(hosts: readonly T[]): T[] {
  return hosts.filter((host) => at(host, "spec.consumerRef") === undefined && at(host, "status.agent") !== undefined);
}

/** Who boots what: hosts on which something goes on. Pure. */
export function bootsOf(hosts: readonly KubeObject[]): HostBoot[] {
  return hosts
    .filter((host) => at(host, "status.operation") !== undefined || at(host, "status.agent.waitsFor") !== undefined)
    .map((host) => ({
      ...{ host, mac: String(at(host, "spec.bootMACAddress") ?? ""), state: stateOf(host) },
      doing: `${doingOf(host)}${methodOf(host)}`,
      trust: String(at(host, "status.agent.trust") ?? ""),
    }));
}

const numberOf = (address: string): number => Number(tryParseIp(address)?.value ?? 0);

function methodOf(host: KubeObject): string {
  const method = at(host, "status.operation.method") ?? at(host, "spec.customDeploy.method");
  return typeof method === "string" && method !== "" ? ` (${method})` : "";
}

function macsOf(host: KubeObject): string[] {
  const nics = at(host, "status.hardware.nics");
  const found = (Array.isArray(nics) ? nics : []).map((nic) => at(nic, "mac"));
  return [at(host, "spec.bootMACAddress"), ...found].flatMap((mac) =>
    typeof mac === "string" ? [mac.toLowerCase()] : [],
  );
}

const nameOf = ({ metadata: { namespace, name } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;
