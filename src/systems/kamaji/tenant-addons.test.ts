import assert from "node:assert/strict";
import { test } from "node:test";
import { FACTS } from "../../bootstrap/kubeadm/testing.ts";
import { completeSpec } from "../../kinds/kamaji/defaults.ts";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import { addonLeftOvers, addonStatus, addonsToAnnounce } from "./tenant-addons.ts";

const AT = "2026-01-01T00:00:00Z";

function tenantOf(addons: object, status?: object) {
  const tenant = { ...tenantWith({ addons }), ...(status && { status: { addons: status } }) } as TenantControlPlane;
  return [tenant, completeSpec(tenant)] as const;
}

test("an add-on is in the status before it is in the tenant, and no second time", () => {
  const held = { enabled: true, lastUpdate: "2025-01-01T00:00:00Z" };
  assert.equal(addonsToAnnounce(...tenantOf({}), AT), undefined);
  assert.deepEqual(addonsToAnnounce(...tenantOf({ coreDNS: {}, kubeProxy: {} }, { coreDNS: held }), AT), {
    coreDNS: held,
    kubeProxy: { enabled: true, lastUpdate: AT },
  });
  assert.equal(addonsToAnnounce(...tenantOf({ coreDNS: {} }, { coreDNS: held }), AT), undefined);
});

test("what is no longer asked for is taken out where the status has it, but for its user's configuration", () => {
  const names = (addons: object, status?: object): string =>
    addonLeftOvers(...tenantOf(addons, status), FACTS)
      .map(({ kind, metadata }) => `${kind}/${metadata.name}`)
      .join(" ");
  const both = { coreDNS: { enabled: true }, kubeProxy: { enabled: true } };
  assert.equal(names({}), "", "others bring their own");
  assert.equal(names({}, { coreDNS: { enabled: false } }), "");
  assert.equal(names({ coreDNS: {}, kubeProxy: {} }, both), "");
  assert.equal(
    names({ kubeProxy: {} }, both),
    "Service/kube-dns Deployment/coredns ServiceAccount/coredns ClusterRoleBinding/system:coredns ClusterRole/system:coredns",
  );
  assert.match(names({ coreDNS: {} }, both), /^DaemonSet\/kube-proxy .*ConfigMap\/kube-proxy$/);
});

test("an add-on that can't be taken out yet stays in the status, beside those of others", () => {
  const held = { coreDNS: { enabled: true }, konnectivity: { enabled: true } };
  assert.deepEqual(addonStatus(...tenantOf({}, held), { isReached: false }), held);
  assert.deepEqual(addonStatus(...tenantOf({}, held), { isReached: true }), { konnectivity: { enabled: true } });
  assert.deepEqual(addonStatus(...tenantOf({ coreDNS: {} }, held), { isReached: true }), held);
});
