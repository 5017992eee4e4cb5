/**
 * Which resources of a tenant are in another DataStore than the rest, as it is written on the tenant: `/events=etcd-b,=etcd-c`. A DataStore
 * without a resource was used before, and still has a place of the tenant's. Pure.
 */
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { OVERRIDES } from "./names.ts";

export interface Override {
  /** As kube-apiserver names it: `/events`, `apps/deployments`. */
  resource: string;
  dataStore: string;
}

export interface OverrideRecord {
  at: readonly Override[];
  /** DataStores that were used before. */
  left: readonly string[];
}

export type OverridePlan =
  | { do: "use"; overrides: readonly Override[]; because?: string }
  /** Nothing is made before it is written where. */
  | { do: "announce"; record: OverrideRecord };

/** Objects that end by themselves within hours: they may stay behind. */
const SHORT_LIVED = "/events";

/** The record as the annotation has it: `RESOURCE=DATASTORE`, and `=DATASTORE` for what was left behind. */
export function writeOverrides({ at, left }: OverrideRecord): string {
  return [...at.map(({ resource, dataStore }) => `${resource}=${dataStore}`), ...left.map((name) => `=${name}`)].join(
    ",",
  );
}

/** What stands in the tenant's annotation; what can't be read there is left out. */
export function overridesOf({ metadata }: Pick<TenantControlPlane, "metadata">): OverrideRecord {
  const entries = (metadata.annotations?.[OVERRIDES] ?? "")
    .split(",")
    .map((entry) => entry.split("="))
    .filter((parts) => parts.length === 2 && parts[1] !== "")
    .map(([resource = "", dataStore = ""]) => ({ resource, dataStore }));
  return {
    at: entries.filter(({ resource }) => resource !== ""),
    left: entries.filter(({ resource }) => resource === "").map(({ dataStore }) => dataStore),
  };
}

/** DataStores that have, or may have, a place of the tenant's beside its own one. */
export function storesOfOverrides(tenant: Pick<TenantControlPlane, "metadata">): string[] {
  const { at, left } = overridesOf(tenant);
  return [...new Set([...at.map(({ dataStore }) => dataStore), ...left])];
}

/** What the specification asks for. */
export function wantedOverrides({ spec }: Pick<TenantControlPlane, "spec">): Override[] {
  return (spec.dataStoreOverrides ?? []).map(({ resource = "", dataStore = "" }) => ({ resource, dataStore }));
}

/**
 * What is used, and what is to be written first. A tenant that was installed has objects: what changes then is refused, since they would
 * stay where they are and not be found, except of those that end by themselves.
 */
export function overridePlan(
  wanted: readonly Override[],
  record: OverrideRecord,
  { isInstalled }: { isInstalled: boolean },
): OverridePlan {
  const before = new Map(record.at.map(({ resource, dataStore }) => [resource, dataStore]));
  const after = new Map(wanted.map(({ resource, dataStore }) => [resource, dataStore]));
  const changed = [...new Set([...before.keys(), ...after.keys()])]
    .filter((resource) => before.get(resource) !== after.get(resource))
    .sort();
  if (changed.length === 0) return { do: "use", overrides: record.at };
  const stranded = changed.filter((resource) => resource !== SHORT_LIVED);
  if (isInstalled && stranded.length > 0)
    return {
      do: "use",
      overrides: record.at,
      because: stranded
        .map((resource) => `objects of ${resource} are in ${whereOf(before.get(resource))} and would stay there`)
        .join("; "),
    };
  const used = new Set(wanted.map(({ dataStore }) => dataStore));
  const left = [...new Set([...record.left, ...before.values()])].filter((name) => !used.has(name));
  return { do: "announce", record: { at: wanted, left } };
}

const whereOf = (dataStore: string | undefined): string =>
  dataStore === undefined ? "the tenant's own DataStore" : `DataStore ${dataStore}`;
