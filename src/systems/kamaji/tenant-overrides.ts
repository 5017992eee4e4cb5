/** Brings a tenant's overrides about: announced on the tenant before anything is made by them (`overrides.ts` decides). */
import { asFault, Fault, isFault } from "@slipway/base";
import { type Context, refOf } from "@slipway/kube";
import { DataStore } from "../../kinds/kamaji/data-store.ts";
import type { CompleteTenant } from "../../kinds/kamaji/defaults.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { Authority } from "../../pki/authority.ts";
import { OVERRIDES } from "./names.ts";
import { type Override, overridePlan, overridesOf, wantedOverrides, writeOverrides } from "./overrides.ts";
import type { OpenStore, Stores } from "./stores.ts";
import { freeStore, usableStore } from "./usable-store.ts";

/** The overrides of this turn. */
export interface Overrides {
  use: readonly Override[];
  /** They were written down now, and the next turn goes on. */
  announced?: boolean;
  /** Why others that are wanted are not used. */
  obstacle?: Fault;
}

/** Decides, and announces what is to be used. Rejects with what is wrong with a DataStore that a tenant names which was never installed. */
export async function nextOverrides(stores: Stores, context: Context, of: CompleteTenant): Promise<Overrides> {
  const { tenant } = of;
  const record = overridesOf(tenant);
  const isInstalled = Boolean(tenant.status?.kubernetesResources?.version?.version);
  const plan = overridePlan(wantedOverrides(tenant), record, { isInstalled });
  if (plan.do === "use") {
    if (plan.because === undefined) return { use: plan.overrides };
    const obstacle = new Fault("Invalid", "spec.dataStoreOverrides", plan.because, {
      remedy: "set it back, or make another tenant and apply the objects to it",
    });
    return { use: plan.overrides, obstacle };
  }
  try {
    const own = usableStore(context, of);
    const { authority } = await stores.of(context.client, own);
    await openOverrides(stores, context, of, { overrides: plan.record.at, authority });
  } catch (error) {
    if (context.signal.aborted || !isInstalled || isFault(error, "Conflict")) throw error;
    return { use: record.at, obstacle: asFault(error, `TenantControlPlane/${tenant.metadata.name}`) };
  }
  const { resourceVersion } = tenant.metadata;
  const body = { metadata: { resourceVersion, annotations: { [OVERRIDES]: writeOverrides(plan.record) || null } } };
  await context.client.patch(TenantControlPlane, refOf(tenant), { type: "merge", body });
  return { use: record.at, announced: true };
}

export interface OpenOverride extends Override {
  store: DataStore;
  open: OpenStore;
}

/**
 * The databases of overrides. kube-apiserver shows one certificate to all its etcds, so `authority`, which signs the tenant's, must be
 * theirs, too. Rejects with `MissingInput` for a DataStore that is not there, and with `Invalid` for one of another authority.
 */
export async function openOverrides(
  stores: Stores,
  context: Context,
  { tenant, spec }: CompleteTenant,
  { overrides, authority }: { overrides: readonly Override[]; authority: Authority | undefined },
): Promise<OpenOverride[]> {
  const found: OpenOverride[] = [];
  for (const override of overrides) {
    const store = freeStore(context, { tenant, spec: { ...spec, dataStore: override.dataStore } });
    const open = await stores.of(context.client, store);
    if (open.authority?.certificatePem.trim() !== authority?.certificatePem.trim())
      throw new Fault(
        "Invalid",
        `DataStore/${override.dataStore}`,
        `its authority is another one than that of the tenant's own DataStore, and kube-apiserver has one certificate for both`,
        { remedy: `give both the same tlsConfig.certificateAuthority, or keep ${override.resource} with the rest` },
      );
    found.push({ ...override, store, open });
  }
  return found;
}

/** Before a tenant moves: its overrides stay where they are, and must be reached by what `authority` signs. */
export async function refuseOtherAuthority(
  stores: Stores,
  { cache, client }: Pick<Context, "cache" | "client">,
  tenant: TenantControlPlane,
  authority: Authority | undefined,
): Promise<void> {
  for (const { resource, dataStore: name } of overridesOf(tenant).at) {
    const store = cache.get(DataStore, { name });
    const other = store && (await stores.of(client, store)).authority;
    if (other?.certificatePem.trim() === authority?.certificatePem.trim()) continue;
    throw new Fault("Invalid", `DataStore/${name}`, `it holds ${resource}, and has another authority`, {
      remedy: "move to a DataStore of the same tlsConfig.certificateAuthority",
    });
  }
}
