/** What is wrong with a tenant's choice of DataStores. */
import type { Driver } from "./data-store.ts";
import { type Problem, quoted } from "./problem.ts";
import type { TenantControlPlane, TenantControlPlaneSpec } from "./tenant-control-plane.ts";

type Overrides = NonNullable<TenantControlPlaneSpec["dataStoreOverrides"]>;

/** Overrides that name no resource or no DataStore, or a resource twice. */
export function overrideProblems(overrides: Overrides): Problem[] {
  return overrides.flatMap(({ resource = "", dataStore = "" }, at) => {
    const field = `spec.dataStoreOverrides[${at}]`;
    const problems: Problem[] = [];
    if (!/^[a-z0-9.-]*\/[a-z0-9-]+$/.test(resource))
      problems.push({
        field: `${field}.resource`,
        message: `${quoted(resource)} names no resource: write group/resource, such as apps/deployments, or /events for the core group`,
      });
    else if (overrides.findIndex((other) => other.resource === resource) < at)
      problems.push({ field: `${field}.resource`, message: `${resource} has an override already: remove one of them` });
    if (dataStore === "") problems.push({ field: `${field}.dataStore`, message: "no DataStore is named: name one" });
    return problems;
  });
}

/**
 * What is wrong between a tenant and the DataStores that exist, by name. Overrides need etcd on both sides; `dataStore` is the one that
 * the tenant comes to, which its spec may leave to a default.
 */
export function problemsOfDataStores(
  { spec }: Pick<TenantControlPlane, "spec">,
  dataStore: string,
  drivers: ReadonlyMap<string, Driver>,
): Problem[] {
  const missing = (field: string, name: string): Problem => ({
    field,
    message: `there is no DataStore ${quoted(name)}: create it, or name one of ${[...drivers.keys()].sort().join(", ") || "those that you create"}`,
  });
  const driver = drivers.get(dataStore);
  const overrides = spec.dataStoreOverrides ?? [];
  const problems = driver === undefined ? [missing("spec.dataStore", dataStore)] : [];
  if (driver !== undefined && driver !== "etcd" && overrides.length > 0)
    problems.push({
      field: "spec.dataStoreOverrides",
      message: `overrides need a DataStore of driver etcd, and ${dataStore} is ${driver}: remove them`,
    });
  for (const [at, { dataStore: name = "" }] of overrides.entries()) {
    const field = `spec.dataStoreOverrides[${at}].dataStore`;
    const its = drivers.get(name);
    if (name === dataStore && driver === "etcd")
      problems.push({ field, message: `${name} is the tenant's own DataStore: remove the override, or name another` });
    else if (its === undefined && name !== "") problems.push(missing(field, name));
    else if (its !== undefined && its !== "etcd")
      problems.push({ field, message: `${name} is ${its}, and an override needs driver etcd: name another DataStore` });
  }
  return problems;
}
