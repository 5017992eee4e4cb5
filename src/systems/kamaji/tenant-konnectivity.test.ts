import assert from "node:assert/strict";
import { test } from "node:test";
import { completeSpec } from "../../kinds/kamaji/defaults.ts";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import type { Observed } from "../../tenants/plane.ts";
import { konnectivityContents, konnectivityStatus } from "./tenant-konnectivity.ts";
import type { TenantPki } from "./tenant-pki.ts";

const mark = (secretName: string) => ({ secretName, checksum: "c", lastUpdate: "t" });
const marks = { konnectivityCertificate: mark("certificate"), konnectivityKubeconfig: mark("kubeconfig") };
const withPki = { held: { konnectivityKubeconfig: {} }, marks } as unknown as TenantPki;
const withoutPki = { held: {}, marks: {} } as unknown as TenantPki;
const serving: Observed = { readyReplicas: 1, components: [] };

function tenantOf(
  over: object,
  status?: object,
): { tenant: TenantControlPlane; spec: ReturnType<typeof completeSpec> } {
  const tenant = { ...tenantWith(over), ...(status !== undefined && { status }) } as TenantControlPlane;
  return { tenant, spec: completeSpec(tenant) };
}
const TUNNELLED = { addons: { konnectivity: { server: { port: 8132 } } } };
const names = (list: readonly { kind: string }[]): string => list.map(({ kind }) => kind).join(" ");

test("agents go to where the tenant is reached: its advertised address before its own, the runtime's port before the named one", () => {
  const args = (over: object, place: { host: string; tunnelPort?: number }): string[] => {
    const { tenant, spec } = tenantOf({ ...TUNNELLED, ...over });
    const { wanted, unwanted } = konnectivityContents(tenant, { spec, place, pki: withPki, version: "v1.34.2" });
    assert.deepEqual([names(wanted), names(unwanted)], ["ClusterRoleBinding ServiceAccount DaemonSet", "Deployment"]);
    const { template } = (
      wanted[2] as unknown as { spec: { template: { spec: { containers: { args: string[] }[] } } } }
    ).spec;
    return template.spec.containers[0]!.args.filter((arg) => arg.startsWith("--proxy-server-"));
  };
  const at = (host: string, port: number) => [`--proxy-server-host=${host}`, `--proxy-server-port=${port}`];
  assert.deepEqual(args({}, { host: "192.0.2.1" }), at("192.0.2.1", 8132));
  assert.deepEqual(args({}, { host: "192.0.2.1", tunnelPort: 30_132 }), at("192.0.2.1", 30_132));
  const networkProfile = { advertiseAddress: "198.51.100.1" };
  assert.deepEqual(args({ networkProfile }, { host: "192.0.2.1" }), at("198.51.100.1", 8132));
});

test("a tenant without konnectivity holds nothing of it, and loses what it had", () => {
  const contents = (over: object, status?: object) => {
    const { tenant, spec } = tenantOf(over, status);
    const { wanted, unwanted } = konnectivityContents(tenant, {
      ...{ spec, place: { host: "x" }, pki: withoutPki, version: "v1.34.2" },
    });
    return [names(wanted), names(unwanted)];
  };
  const had = { addons: { konnectivity: { enabled: true } } };
  assert.deepEqual(contents({}), ["", ""]);
  assert.deepEqual(contents({}, { addons: { konnectivity: { enabled: false } } }), ["", ""]);
  assert.deepEqual(contents({}, had), ["", "DaemonSet Deployment ServiceAccount ClusterRoleBinding"]);
  assert.deepEqual(contents(TUNNELLED, {}), ["", ""], "a runtime that has no server for it");
});

test("a tenant's status has konnectivity's objects by name, and its agents' port", () => {
  const { tenant, spec } = tenantOf(TUNNELLED, { addons: { coreDNS: { enabled: true } } });
  const status = (place: { host: string; tunnelPort?: number }, observed = serving) =>
    konnectivityStatus(tenant, { spec, place, pki: withPki, observed }).addons!;
  assert.deepEqual(status({ host: "x" }), {
    coreDNS: { enabled: true },
    konnectivity: {
      enabled: true,
      ...{ certificate: mark("certificate"), kubeconfig: mark("kubeconfig") },
      service: { name: "a", namespace: "default", port: 8132 },
      configMap: { name: "a-konnectivity-egress-selector-configuration" },
      sa: { name: "konnectivity-agent", namespace: "kube-system" },
      clusterrolebinding: { name: "system:konnectivity-server" },
      agent: { name: "konnectivity-agent", namespace: "kube-system", mode: "DaemonSet" },
    },
  });
  assert.equal(status({ host: "x", tunnelPort: 1 }).konnectivity!.service!.port, 1);
  const tunnelRoute = { parents: [], routeRef: { name: "r" } };
  assert.deepEqual(status({ host: "x" }, { ...serving, tunnelRoute }).konnectivity!.gateway, tunnelRoute);
});

test("konnectivity stays in the status of a tenant that can't be reached to take it away, and goes when it is out", () => {
  const konnectivity = { enabled: true };
  const addons = { coreDNS: { enabled: true }, konnectivity };
  const status = (held: object | undefined, observed: Observed, over: object = {}, pki = withoutPki) => {
    const { tenant, spec } = tenantOf(over, held && { addons: held });
    return konnectivityStatus(tenant, { spec, place: { host: "x" }, pki, observed });
  };
  const asleep = { ...serving, readyReplicas: 0 };
  assert.deepEqual(status(undefined, serving), {});
  assert.deepEqual(status(addons, asleep), { addons });
  assert.deepEqual(status(addons, serving), { addons: { coreDNS: { enabled: true } } });
  assert.deepEqual(status({ konnectivity: { enabled: false } }, asleep), { addons: {} });
  for (const part of ["konnectivityCertificate", "konnectivityKubeconfig"]) {
    const pki = { ...withPki, marks: { ...marks, [part]: undefined } } as unknown as TenantPki;
    assert.deepEqual(status(undefined, serving, TUNNELLED, pki), {});
  }
});
