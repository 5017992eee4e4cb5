/**
 * What Kamaji's webhook fills in on create and the definition can't: names from the object's UID, lists from deprecated single fields,
 * addresses from prefixes. Pure. `missingDefaults` is for who writes the object, `completeSpec` for who reads it; the two agree.
 */
import { type Deployment, deployment } from "./deployment.ts";
import { dnsServiceIPsOf, podCidrsOf, serviceCidrsOf } from "./network.ts";
import type { TenantControlPlane, TenantControlPlaneSpec } from "./tenant-control-plane.ts";
import { type NetworkProfile, networkProfile } from "./tenant-kubernetes.ts";

/** Choices of the operator. */
export interface DefaultSettings {
  /** DataStore of tenants that name none. */
  dataStore: string;
}
export const DEFAULT_SETTINGS: DefaultSettings = { dataStore: "default" };

/** A network profile with nothing left open. */
export interface CompleteNetwork extends NetworkProfile {
  serviceCidrs: string[];
  podCidrs: string[];
  /** Empty only where no service prefix reaches as far as the usual address. */
  dnsServiceIPs: string[];
}

/** The spec of a tenant with nothing left open that a default exists for. */
export interface CompleteSpec extends TenantControlPlaneSpec {
  dataStore: string;
  dataStoreSchema: string;
  dataStoreUsername: string;
  controlPlane: TenantControlPlaneSpec["controlPlane"] & { deployment: Deployment };
  networkProfile: CompleteNetwork;
}

/** A tenant, and its specification with nothing left open. */
export interface CompleteTenant {
  tenant: TenantControlPlane;
  spec: CompleteSpec;
}

/** A merge patch of a tenant's spec. */
export interface SpecPatch {
  dataStore?: string;
  dataStoreSchema?: string;
  dataStoreUsername?: string;
  controlPlane?: { deployment: { replicas: number } };
  networkProfile?: { serviceCidrs?: string[]; podCidrs?: string[]; dnsServiceIPs?: string[] };
}

/** What defaults look at. */
export type Defaulted = Pick<TenantControlPlane, "metadata" | "spec"> & Partial<Pick<TenantControlPlane, "status">>;

/** The spec with every default filled in. */
export function completeSpec(tenant: Defaulted, settings: DefaultSettings = DEFAULT_SETTINGS): CompleteSpec {
  const { spec, metadata, status } = tenant;
  const network = networkProfile.parse(spec.networkProfile ?? {});
  // A live tenant of an earlier Kamaji has its objects under another name than its UID; its status says which.
  const setup = status?.storage?.setup;
  return {
    ...spec,
    dataStore: spec.dataStore || status?.storage?.dataStoreName || settings.dataStore,
    dataStoreSchema: spec.dataStoreSchema || setup?.schema || metadata.uid,
    dataStoreUsername: spec.dataStoreUsername || setup?.user || metadata.uid,
    controlPlane: { ...spec.controlPlane, deployment: deployment.parse(spec.controlPlane.deployment ?? {}) },
    networkProfile: {
      ...network,
      serviceCidrs: serviceCidrsOf(network),
      podCidrs: podCidrsOf(network),
      dnsServiceIPs: dnsServiceIPsOf(network),
    },
  };
}

/**
 * What is to be written to a tenant's spec so that it says all that `completeSpec` says: fields that are absent or empty, never one that
 * has a value. Undefined: nothing is missing. The API fills in the definition's own defaults.
 */
export function missingDefaults(
  tenant: Defaulted,
  settings: DefaultSettings = DEFAULT_SETTINGS,
): SpecPatch | undefined {
  const { spec } = tenant;
  const complete = completeSpec(tenant, settings);
  const network = missingLists(spec.networkProfile ?? {}, complete.networkProfile);
  const patch: SpecPatch = {
    ...(!spec.dataStore && { dataStore: complete.dataStore }),
    ...(!spec.dataStoreSchema && { dataStoreSchema: complete.dataStoreSchema }),
    ...(!spec.dataStoreUsername && { dataStoreUsername: complete.dataStoreUsername }),
    ...(spec.controlPlane.deployment?.replicas === undefined && {
      controlPlane: { deployment: { replicas: complete.controlPlane.deployment.replicas } },
    }),
    ...(network !== undefined && { networkProfile: network }),
  };
  return Object.keys(patch).length > 0 ? patch : undefined;
}

const LISTS = ["serviceCidrs", "podCidrs", "dnsServiceIPs"] as const;

function missingLists(held: Partial<NetworkProfile>, complete: CompleteNetwork): SpecPatch["networkProfile"] {
  const missing = LISTS.filter((list) => (held[list] ?? []).length === 0 && complete[list].length > 0);
  return missing.length > 0 ? Object.fromEntries(missing.map((list) => [list, complete[list]])) : undefined;
}
