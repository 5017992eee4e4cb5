/** What a SIPCluster gives the hosted control plane of its name: names of the certificate, a provider of users, and bindings of their groups. */
import { type Cache, refOf, source } from "@slipway/kube";
import type { Manifest } from "../../bootstrap/kubeadm/join-facts.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { hostedPlaneOf, sipNamesOf } from "../../kinds/sip/hosted.ts";
import { SIPCluster, type TenantSettings } from "../../kinds/sip/sip-cluster.ts";
import type { PlaneOidc } from "../../tenants/plane.ts";
import { GROUP_BINDINGS } from "./names.ts";
import type { Contents } from "./tenant-contents.ts";

/** On ClusterRoleBindings in the tenant: they go with the SIPCluster's entry. */
const BOUND = { "slipway.dev/bound-by": "sipcluster" } as const;
const RBAC = "rbac.authorization.k8s.io";

/** SIPClusters wake the control planes that are theirs. There may be none of their kind. */
export const ofSubClusters = () =>
  source({
    resource: SIPCluster,
    optional: true,
    when: (cluster, before) => gives(cluster) !== gives(before),
    keys: (cluster, _, cache) => {
      const plane = hostedPlaneOf(cluster, cache.list(TenantControlPlane, cluster.metadata.namespace));
      return plane === undefined ? [] : [refOf(plane)];
    },
  });

const gives = ({ metadata, status }: SIPCluster): string =>
  JSON.stringify([metadata.deletionTimestamp, status?.tenant]);

/** Nothing where no SIPCluster is the tenant's, or it is being deleted. */
export function subClusterSettings(cache: Cache, tenant: TenantControlPlane): TenantSettings {
  const { namespace = "" } = tenant.metadata;
  for (const name of sipNamesOf(tenant)) {
    const cluster = cache.get(SIPCluster, { namespace, name });
    if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) continue;
    // Another plane may bear its very name.
    const planes = cache.list(TenantControlPlane, namespace);
    if (hostedPlaneOf(cluster, planes)?.metadata.name === tenant.metadata.name) return cluster.status?.tenant ?? {};
  }
  return {};
}

/** The provider, as a plane has it. */
export function oidcOf({ oidc }: TenantSettings): PlaneOidc | undefined {
  if (oidc === undefined) return undefined;
  const { issuer, clientID, ca, configMap } = oidc;
  return { issuer, clientID, ca, configMap: { name: configMap, key: "ca.crt" } };
}

/** ClusterRoleBindings in the tenant, and which of them are no longer wanted: none where it never had any. */
export function boundGroups(
  { metadata }: TenantControlPlane,
  { groupBindings = [] }: TenantSettings,
): { wanted: Manifest[]; prune: Contents["prune"] } {
  const byRole = new Map<string, Set<string>>();
  for (const { group, clusterRole } of groupBindings)
    byRole.set(clusterRole, (byRole.get(clusterRole) ?? new Set()).add(group));
  const wanted = [...byRole].toSorted().map(
    ([name, groups]): Manifest => ({
      ...{ apiVersion: `${RBAC}/v1`, kind: "ClusterRoleBinding" },
      metadata: { name: `sipcluster:${name}`, labels: { ...BOUND } },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name },
      subjects: [...groups].toSorted().map((group) => ({ apiGroup: RBAC, kind: "Group", name: group })),
    }),
  );
  const hadSome = metadata.annotations?.[GROUP_BINDINGS] !== undefined || wanted.length > 0;
  return {
    wanted,
    prune: hadSome ? { apiVersion: `${RBAC}/v1`, kind: "ClusterRoleBinding", labels: BOUND } : undefined,
  };
}

/** What is to be noted on the tenant before the first binding is made: those that are no longer wanted are looked for where it is. */
export function bindingsNote(cache: Cache, tenant: TenantControlPlane): Record<string, string> | undefined {
  const { groupBindings = [] } = subClusterSettings(cache, tenant);
  const isNoted = tenant.metadata.annotations?.[GROUP_BINDINGS] !== undefined;
  return groupBindings.length > 0 && !isNoted ? { [GROUP_BINDINGS]: "true" } : undefined;
}
