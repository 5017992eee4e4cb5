import type { KubeObject } from "@slipway/kube";

/** Where a machine stands, as its labels say it. */
export interface Location {
  site?: string | undefined;
  rack?: string | undefined;
  /** Height unit in the rack. */
  unit?: number | undefined;
}

/** Names of labels behind their prefix: `topology.kubernetes.io/rack`, `example.com/rack`, `rack`. The first found counts. */
const SITE = ["zone", "metro", "site", "datacenter", "region"];
const RACK = ["rack"];
const UNIT = ["unit", "rack-unit", "position", "slot"];

/** Pure. */
export function locationOf({ metadata: { labels = {} } }: KubeObject): Location {
  const named = new Map(Object.entries(labels).map(([name, value]) => [name.split("/").at(-1)!.toLowerCase(), value]));
  const first = (names: readonly string[]): string | undefined =>
    names.map((name) => named.get(name)).find((value) => value !== undefined && value !== "");
  const unit = Number(/\d+$/.exec(first(UNIT) ?? "")?.[0] ?? Number.NaN);
  return { site: first(SITE), rack: first(RACK), unit: Number.isNaN(unit) ? undefined : unit };
}

/** A rack with what stands in it, the highest unit first; what has no unit comes last. */
export interface Rack<T> {
  site: string;
  rack: string;
  members: readonly { member: T; unit?: number | undefined }[];
}

/** Machines by site and rack; those without a rack label stand in the rack with the empty name, which is last. Pure. */
export function racksOf<T extends { location: Location; name: string }>(machines: readonly T[]): Rack<T>[] {
  const place = ({ location: { site = "", rack = "" } }: T): string => JSON.stringify([site, rack]);
  const racks = [...Map.groupBy(machines, place)].map(([key, members]) => {
    const [site, rack] = JSON.parse(key) as [string, string];
    const sorted = members.toSorted(
      (a, b) =>
        (b.location.unit ?? -1) - (a.location.unit ?? -1) || a.name.localeCompare(b.name, "en", { numeric: true }),
    );
    return { site, rack, members: sorted.map((member) => ({ member, unit: member.location.unit })) };
  });
  const text = ({ site, rack }: Rack<T>): string => `${rack === "" ? 1 : 0} ${site} ${rack}`;
  return racks.sort((a, b) => text(a).localeCompare(text(b), "en", { numeric: true }));
}
