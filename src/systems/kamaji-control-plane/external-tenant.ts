/** A tenant in another cluster: how it is named, and where it is. */
import { Fault } from "@slipway/base";
import { type Context, refOf } from "@slipway/kube";
import { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import type { Waker } from "../cluster-api/wake.ts";
import type { ExternalClusters } from "./external-clusters.ts";
import { EXTERNAL_FINALIZER, EXTERNAL_TENANT, nameByUid } from "./names.ts";
import { localHome, type TenantHome } from "./tenant-home.ts";

/** What reaches tenants in other clusters, and wakes the controller when one has changed there. */
export interface ExternalWays {
  external: ExternalClusters;
  waker: Waker;
}

/** Whether its tenant is to run in another cluster. */
export const isElsewhere = ({ spec }: KamajiControlPlane): boolean =>
  spec.deployment?.externalClusterReference !== undefined;

/** The tenant's name, as it was written down. */
const writtenName = ({ metadata }: KamajiControlPlane): string | undefined =>
  metadata.annotations?.[EXTERNAL_TENANT] || undefined;

/** The tenant's name there; undefined: it was never made. The original provider writes down no name, only its finalizer. */
const externalName = (controlPlane: KamajiControlPlane): string | undefined =>
  writtenName(controlPlane) ??
  (controlPlane.metadata.finalizers?.includes(EXTERNAL_FINALIZER) ? nameByUid(controlPlane) : undefined);

/** Whether a tenant in another cluster has no name yet. */
export const needsName = (controlPlane: KamajiControlPlane): boolean =>
  isElsewhere(controlPlane) && writtenName(controlPlane) === undefined;

/** Writes the tenant's name down before there is a tenant: a control plane that is moved to another management cluster gets another uid. */
export async function nameTenant({ client }: Context, controlPlane: KamajiControlPlane): Promise<void> {
  const annotations = { [EXTERNAL_TENANT]: nameByUid(controlPlane) };
  await client.patch(KamajiControlPlane, refOf(controlPlane), { type: "merge", body: { metadata: { annotations } } });
}

/** Where the tenant is; undefined: it was never made. Rejects as `ExternalClusters.home`. */
export async function placeOf(
  ways: ExternalWays | undefined,
  context: Context,
  controlPlane: KamajiControlPlane,
): Promise<TenantHome | undefined> {
  if (!isElsewhere(controlPlane)) return localHome(context, controlPlane);
  if (ways === undefined)
    throw new Fault(
      "Invalid",
      "spec.deployment.externalClusterReference",
      "tenants in another cluster are not served",
      {
        remedy: "remove it: the tenant runs in this cluster",
      },
    );
  const name = externalName(controlPlane);
  return name === undefined ? undefined : await ways.external.home(context.client, controlPlane, name);
}
