/** CoreDNS and kube-proxy in a tenant's cluster, and what its status has of them. */
import { coreDnsObjects } from "../../bootstrap/kubeadm/core-dns.ts";
import type { JoinFacts, Manifest } from "../../bootstrap/kubeadm/join-facts.ts";
import { kubeProxyObjects } from "../../bootstrap/kubeadm/kube-proxy.ts";
import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import type { TenantControlPlane, TenantControlPlaneStatus } from "../../kinds/kamaji/tenant-control-plane.ts";

type Addons = NonNullable<TenantControlPlaneStatus["addons"]>;

const OBJECTS = {
  // Its configuration is its user's.
  coreDNS: (facts: JoinFacts) => coreDnsObjects(facts, {}).filter(({ kind }) => kind !== "ConfigMap"),
  kubeProxy: (facts: JoinFacts) => kubeProxyObjects(facts, {}),
};
const NAMES = ["coreDNS", "kubeProxy"] as const satisfies readonly (keyof typeof OBJECTS)[];

/** What the tenant had of add-ons and is to have no more. Nothing where the status does not say that it was put there: others may bring their own. */
export function addonLeftOvers(
  { status }: TenantControlPlane,
  { addons = {} }: CompleteSpec,
  facts: JoinFacts,
): Manifest[] {
  return NAMES.filter((name) => addons[name] === undefined && status?.addons?.[name]?.enabled === true).flatMap(
    (name) => OBJECTS[name](facts).reverse(),
  );
}

/** What the status must say before an add-on is put into the tenant: who dies in between finds it by that. Undefined: it is said. */
export function addonsToAnnounce(
  { status }: TenantControlPlane,
  { addons = {} }: CompleteSpec,
  now: string,
): Addons | undefined {
  const fresh = NAMES.filter((name) => addons[name] !== undefined && status?.addons?.[name]?.enabled !== true);
  if (fresh.length === 0) return undefined;
  return { ...status?.addons, ...Object.fromEntries(fresh.map((name) => [name, { enabled: true, lastUpdate: now }])) };
}

/** The add-ons' part of the status. One that is no longer wanted stays in it until it is out of the tenant. */
export function addonStatus(
  { status }: TenantControlPlane,
  { addons = {} }: CompleteSpec,
  { isReached }: { isReached: boolean },
): Addons {
  const { coreDNS: _, kubeProxy: __, ...others } = status?.addons ?? {};
  const held = NAMES.flatMap((name) => {
    const before = status?.addons?.[name];
    const stays = before !== undefined && (addons[name] !== undefined || !isReached);
    return stays ? [[name, before] as const] : [];
  });
  return { ...others, ...Object.fromEntries(held) };
}
