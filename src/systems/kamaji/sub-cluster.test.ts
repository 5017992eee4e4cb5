import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cache, Resource } from "@slipway/kube";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { SIPCluster } from "../../kinds/sip/sip-cluster.ts";
import { measuredOf } from "./measures.ts";
import { GROUP_BINDINGS } from "./names.ts";
import { bindingsNote, boundGroups, oidcOf, subClusterSettings } from "./sub-cluster.ts";

const tenant = (name: string, metadata: object = {}): TenantControlPlane =>
  ({ metadata: { namespace: "sub", name, ...metadata }, spec: {} }) as unknown as TenantControlPlane;
const GIVEN = { certSANs: ["api.example"] };
const cluster = (name: string, { metadata = {}, status = { tenant: GIVEN } as object } = {}): SIPCluster =>
  ({ metadata: { namespace: "sub", name, ...metadata }, spec: {}, status }) as unknown as SIPCluster;

/** What a tenant is given, by these SIPClusters beside it. */
function cacheOf(tenants: readonly TenantControlPlane[], clusters: readonly SIPCluster[]): Cache {
  const get = (_: Resource, { namespace, name }: { namespace: string; name: string }) =>
    namespace === "sub" ? clusters.find(({ metadata }) => metadata.name === name) : undefined;
  return { get, list: () => tenants } as unknown as Cache;
}
const given = (one: TenantControlPlane, ...clusters: SIPCluster[]) => subClusterSettings(cacheOf([one], clusters), one);

test("SIP-14 a control plane is given what the SIPCluster of its name says, while that stays", () => {
  const one = tenant("a");
  assert.deepEqual(given(one, cluster("a")), GIVEN);
  assert.deepEqual(given(one), {});
  assert.deepEqual(given(one, cluster("other")), {});
  assert.deepEqual(given(one, cluster("a", { status: {} })), {});
  assert.deepEqual(given(one, cluster("a", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } })), {});
});

test("SIP-14 a provider's authority is in a ConfigMap of the tenant; without a provider there is none", () => {
  assert.equal(oidcOf({}), undefined);
  const oidc = { issuer: "https://dex", clientID: "k", ca: "PEM", configMap: "dex-ca" };
  assert.deepEqual(oidcOf({ oidc }), {
    ...{ issuer: "https://dex", clientID: "k", ca: "PEM", configMap: { name: "dex-ca", key: "ca.crt" } },
  });
});

test("SIP-14 each role has one binding with its groups, each once and in an order of their own", () => {
  const bindings = [
    { group: "ops", clusterRole: "view" },
    { group: "dev", clusterRole: "edit" },
    { group: "all", clusterRole: "view" },
    { group: "ops", clusterRole: "view" },
  ];
  const shown = (groupBindings: typeof bindings) =>
    boundGroups(tenant("a"), { groupBindings }).wanted.map((one) => {
      const { metadata, roleRef, subjects } = one as unknown as {
        metadata: { name: string };
        roleRef: { name: string };
        subjects: { kind: string; name: string }[];
      };
      return [metadata.name, roleRef.name, ...subjects.map(({ kind, name }) => `${kind} ${name}`)];
    });
  const expected = [
    ["sipcluster:edit", "edit", "Group dev"],
    ["sipcluster:view", "view", "Group all", "Group ops"],
  ];
  assert.deepEqual(shown(bindings), expected);
  assert.deepEqual(shown(bindings.toReversed()), expected);
});

test("SIP-14 bindings that are no longer wanted are looked for where there were some, and nowhere else", () => {
  const noted = tenant("a", { annotations: { [GROUP_BINDINGS]: "true" } });
  const wanted = { groupBindings: [{ group: "ops", clusterRole: "view" }] };
  assert.deepEqual(boundGroups(tenant("a"), {}), { wanted: [], prune: undefined });
  const prune = boundGroups(noted, {}).prune!;
  assert.equal(prune.kind, "ClusterRoleBinding");
  assert.deepEqual(boundGroups(tenant("a"), wanted).prune, prune);
  const labels = boundGroups(tenant("a"), wanted).wanted[0]!.metadata.labels;
  assert.deepEqual(labels, prune.labels, "what is made is found again");

  const note = (one: TenantControlPlane, tenantSettings: object) =>
    bindingsNote(cacheOf([one], [cluster("a", { status: { tenant: tenantSettings } })]), one);
  assert.deepEqual(note(tenant("a"), wanted), { [GROUP_BINDINGS]: "true" });
  assert.equal(note(noted, wanted), undefined);
  assert.equal(note(tenant("a"), {}), undefined);
});

test("a tenant's programs are measured by namespace, name and component", () => {
  const usage = [{ tenant: "sub/a", component: "kube-apiserver", residentBytes: 7, cpuSeconds: 0.5 }];
  const labels = { namespace: "sub", tenant: "a", component: "kube-apiserver" };
  assert.deepEqual(measuredOf(usage as never), [
    { name: "slipway_tenant_memory_bytes", labels, value: 7 },
    { name: "slipway_tenant_cpu_seconds", labels, value: 0.5 },
  ]);
});
