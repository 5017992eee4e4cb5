import type { Context } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { secretName } from "../../cluster-api/names.ts";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { covers } from "../../tenants/deployment/applied.ts";
import { caSecret, isOfTenant, kubeconfigSecret, type SecretPlan, secretManifest } from "./cluster-secrets.ts";
import { DONE_STEP, type StepState } from "./conditions-of.ts";
import { FIELD_MANAGER } from "./names.ts";
import type { TenantHome } from "./tenant-home.ts";

/** Keeps the Secrets that Cluster API reads equal to the tenant's: also when those are renewed. Rejects with what can't be done. */
export async function keepSecrets(
  context: Context,
  { home, controlPlane, cluster }: { home: TenantHome; controlPlane: KamajiControlPlane; cluster: string },
  { status }: TenantControlPlane,
): Promise<StepState> {
  const names = { kubeconfig: status?.kubeconfig?.admin?.secretName, ca: status?.certificates?.ca?.secretName };
  if (!names.kubeconfig || !names.ca) return { is: "waits", for: "the tenant's certificates and kubeconfigs" };
  const admin = await home.secret(names.kubeconfig);
  const ca = await home.secret(names.ca);
  if (admin === undefined || ca === undefined)
    return { is: "waits", for: `Secret ${admin === undefined ? names.kubeconfig : names.ca} of the tenant` };
  await keepSecret(context, controlPlane, cluster, kubeconfigSecret(controlPlane, cluster, admin));
  // A tenant of the cluster's name has its CA where Cluster API looks for it.
  const isThere = names.ca === secretName(cluster, "ca") && isOfTenant(ca);
  const plan = isThere ? undefined : caSecret(cluster, ca);
  if (plan !== undefined) await keepSecret(context, controlPlane, cluster, plan);
  return plan === undefined && !isThere ? { is: "waits", for: `certificate and key in Secret ${names.ca}` } : DONE_STEP;
}

async function keepSecret(
  { cache, client }: Context,
  controlPlane: KamajiControlPlane,
  cluster: string,
  plan: SecretPlan,
): Promise<void> {
  const body = secretManifest(plan, controlPlane, cluster);
  const ref = { namespace: body.metadata.namespace, name: body.metadata.name };
  if (covers(cache.get(Secret, ref), body)) return;
  await client.patch(Secret, ref, { type: "apply", body, fieldManager: FIELD_MANAGER, force: true });
}
