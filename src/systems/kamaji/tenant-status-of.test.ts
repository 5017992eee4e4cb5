import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { completeSpec } from "../../kinds/kamaji/defaults.ts";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import type { ComponentHealth, Observed } from "../../tenants/plane.ts";
import { placelessStatus, stateOf, type TenantFacts, tenantStatusOf, waitOf } from "./tenant-status-of.ts";

const NOW = Date.UTC(2026, 0, 1, 1);
const VERSION = "v1.34.2";
const NOT_READY: Observed = { readyReplicas: 0, components: [] };
const READY: Observed = { readyReplicas: 2, version: VERSION, components: [{ component: "api", ready: true }] };

function factsOf(tenant: TenantControlPlane, of: Partial<TenantFacts> = {}): TenantFacts {
  const marks = { ca: { secretName: "a-ca" } };
  const pki = { held: {}, marks, made: [] } as unknown as TenantFacts["pki"];
  const spec = completeSpec(tenant);
  const kubeadmConfig = { configmapName: "a-kubeadmconfig", checksum: "k1" };
  const place = { host: "192.0.2.1", port: 6443 };
  return { spec, place, pki, kubeadmConfig, observed: READY, running: VERSION, now: NOW, ...of };
}

/** A tenant that answered at this version before. */
function installed(version: string, over: object = {}): TenantControlPlane {
  const status = { kubernetesResources: { version: { version, status: "Ready" as const } } };
  return { ...tenantWith(over), status } as TenantControlPlane;
}

const conditionOf = (found: ReturnType<typeof waitOf>, type: string) =>
  found.conditions?.find((condition) => condition.type === type);

test("B12 a tenant that starts waits for each component that is not ready, by name and with what it says", () => {
  const components: ComponentHealth[] = [
    { component: "kube-apiserver", ready: true },
    { component: "kube-scheduler", ready: false },
    { component: "kube-controller-manager", ready: false, message: "exit code 1" },
  ];
  const tenant = tenantWith();
  const found = waitOf(tenant, factsOf(tenant, { observed: { readyReplicas: 0, components } }), NOW);
  assert.equal(found.waitingFor, "kube-scheduler; kube-controller-manager: exit code 1");
  const { status, reason, message } = conditionOf(found, "Ready")!;
  assert.deepEqual([status, reason, message], ["False", "Starting", found.waitingFor]);
  assert.equal(
    waitOf(tenant, factsOf(tenant, { observed: NOT_READY }), NOW).waitingFor,
    "its components to start",
    "nothing is seen of them yet",
  );
});

test("one replica is enough to be ready; a tenant that sleeps waits for nothing", () => {
  const tenant = tenantWith();
  const one = waitOf(tenant, factsOf(tenant, { observed: { ...READY, readyReplicas: 1 } }), NOW);
  assert.deepEqual([conditionOf(one, "Ready")?.status, one.waitingFor ?? undefined], ["True", undefined]);
  assert.equal(conditionOf(one, "Ready")?.message, "", "a condition has a message, even an empty one");
  const asleep = tenantWith({ controlPlane: { deployment: { replicas: 0 } } });
  const found = waitOf(asleep, factsOf(asleep, { observed: NOT_READY }), NOW);
  const { status, reason } = conditionOf(found, "Ready")!;
  assert.deepEqual([status, reason, found.waitingFor ?? undefined], ["False", "Sleeping", undefined]);
});

test("B25 fields without effect are in a condition of their own, which ends with them", () => {
  const tenant = tenantWith();
  const facts = factsOf(tenant, { observed: { ...READY, ignored: ["spec.a: managed", "spec.b: managed"] } });
  const found = waitOf(tenant, facts, NOW);
  assert.equal(conditionOf(found, "FieldsIgnored")?.message, "spec.a: managed; spec.b: managed");
  const later = { ...tenant, status: { conditions: found.conditions } } as TenantControlPlane;
  const kept = waitOf(later, facts, NOW + 60_000);
  assert.equal(
    conditionOf(kept, "FieldsIgnored")?.lastTransitionTime,
    conditionOf(found, "FieldsIgnored")?.lastTransitionTime,
  );
  assert.equal(conditionOf(waitOf(later, factsOf(tenant), NOW), "FieldsIgnored"), undefined);
});

test("B29 a status names the DataStore that is asked for until the one that is used is known", () => {
  const tenant = tenantWith({ dataStore: "wished" });
  const named = (of: Partial<TenantFacts>) => tenantStatusOf(tenant, factsOf(tenant, of)).storage?.dataStoreName;
  assert.equal(named({}), "wished");
  const store = { driver: "etcd", dataStoreName: "used", config: { secretName: "a", checksum: "c" } };
  assert.equal(named({ store } as Partial<TenantFacts>), "used");
});

test("B16 what keeps a tenant from its version stalls it while it serves; since when stays as it was", () => {
  const tenant = tenantWith();
  const obstacle = new Fault("Refused", "TenantControlPlane/a", "node n is too old", { remedy: "upgrade it" });
  const first = waitOf(tenant, factsOf(tenant, { obstacle }), NOW);
  const stalled = conditionOf(first, "Stalled")!;
  assert.deepEqual([stalled.status, conditionOf(first, "Ready")?.status], ["True", "True"]);
  assert.match(stalled.message, /node n is too old/);
  const later = { ...tenant, status: { conditions: first.conditions } } as TenantControlPlane;
  const second = waitOf(later, factsOf(tenant, { obstacle }), NOW + 3_600_000);
  assert.equal(conditionOf(second, "Stalled")?.lastTransitionTime, stalled.lastTransitionTime);
  assert.equal(conditionOf(waitOf(later, factsOf(tenant), NOW), "Stalled"), undefined, "it is over");
});

test("a tenant's state is Kamaji's word for it", () => {
  const fresh = tenantWith();
  const seen = (tenant: TenantControlPlane, of: Partial<TenantFacts> = {}) => stateOf(tenant, factsOf(tenant, of));
  const old = "v1.33.0";
  assert.equal(seen(fresh, { observed: NOT_READY }), "Provisioning");
  assert.equal(seen(fresh), "Ready");
  assert.equal(seen(fresh, { observed: { ...READY, version: `${VERSION}+slipway` } }), "Ready", "the same release");
  assert.equal(seen(installed(VERSION), { observed: NOT_READY }), "NotReady");
  assert.equal(seen(installed(VERSION), { observed: NOT_READY, isMoving: true }), "Migrating");
  assert.equal(seen(installed(VERSION), { isMoving: true }), "Ready", "it serves");
  assert.equal(seen(installed(old), { observed: { ...READY, version: old } }), "Upgrading");
  assert.equal(seen(installed(old), { running: "v1.33.9", observed: { ...READY, version: "v1.33.9" } }), "Upgrading");
  assert.equal(seen(tenantWith({ controlPlane: { deployment: { replicas: 0 } } })), "Sleeping");
  for (const field of ["blockCreation", "blockUpdate", "blockDeletion"])
    assert.equal(seen(tenantWith({ writePermissions: { [field]: true } })), "WriteLimited", field);
});

test("a tenant with another authority than before is rotating it until it answers", () => {
  const withCa = (checksum: string, status: string): TenantControlPlane => {
    const before = installed(VERSION);
    const kubernetesResources = { version: { version: VERSION, status } };
    return {
      ...before,
      status: { ...before.status, kubernetesResources, certificates: { ca: { checksum } } },
    } as never;
  };
  const pki = { held: {}, marks: { ca: { secretName: "a-ca", checksum: "new" } }, made: [] } as never;
  const seen = (tenant: TenantControlPlane, observed: Observed) => stateOf(tenant, factsOf(tenant, { pki, observed }));
  assert.equal(seen(withCa("old", "Ready"), READY), "CertificateAuthorityRotating");
  assert.equal(seen(withCa("new", "CertificateAuthorityRotating"), NOT_READY), "CertificateAuthorityRotating");
  assert.equal(seen(withCa("new", "CertificateAuthorityRotating"), READY), "Ready");
  assert.equal(seen(withCa("new", "Ready"), NOT_READY), "NotReady");
});

test("the status has what was made beside and in the tenant, and since when it is so", () => {
  const tenant = tenantWith({ addons: { coreDNS: {} } });
  const of = (held: object, facts: Partial<TenantFacts> = {}) => {
    const before = { ...tenant, status: held } as TenantControlPlane;
    return tenantStatusOf(before, factsOf(tenant, { joinedBy: "j1", ...facts }));
  };
  const first = of({ addons: { coreDNS: { enabled: true } } });
  const at = "2026-01-01T01:00:00Z";
  assert.deepEqual(first.kubeadmconfig, { configmapName: "a-kubeadmconfig", checksum: "k1", lastUpdate: at });
  assert.deepEqual(first.kubeadmPhase, { bootstrapToken: { checksum: "j1", lastUpdate: at } });
  assert.deepEqual(first.addons, { coreDNS: { enabled: true } });
  assert.deepEqual(of(first, { now: NOW + 60_000 }), first, "nothing has changed");
  const changed = of(first, { now: NOW + 60_000, joinedBy: "j2" });
  assert.equal(changed.kubeadmPhase!.bootstrapToken.lastUpdate, "2026-01-01T01:01:00Z");
  assert.equal(changed.kubeadmconfig!.lastUpdate, at);
  const store = { driver: "etcd", dataStoreName: "default", config: { secretName: "s", checksum: "c1" } } as const;
  const { schema: _, user: __, ...made } = of({}, { store }).storage!.setup!;
  assert.deepEqual(made, { checksum: "c1", lastUpdate: at });
});

test("the version of the status is the last that answered", () => {
  const version = (tenant: TenantControlPlane, of: Partial<TenantFacts>) =>
    tenantStatusOf(tenant, factsOf(tenant, of)).kubernetesResources?.version?.version;
  assert.equal(version(tenantWith(), { observed: NOT_READY }), "");
  assert.equal(version(tenantWith(), {}), VERSION);
  assert.equal(version(installed("v1.33.0"), { observed: NOT_READY }), "v1.33.0");
  assert.equal(version(installed("v1.33.0"), { observed: { ...READY, version: "v1.33.0" } }), "v1.33.0");
});

test("a tenant's endpoint has brackets around an address of IPv6, and counts what is missing of its replicas", () => {
  const tenant = tenantWith({ controlPlane: { deployment: { replicas: 3 } } });
  const of = (host: string, readyReplicas: number) =>
    tenantStatusOf(tenant, factsOf(tenant, { place: { host, port: 6443 }, observed: { ...READY, readyReplicas } }));
  assert.equal(of("fd00::1", 2).controlPlaneEndpoint, "[fd00::1]:6443");
  assert.equal(of("api.example", 2).controlPlaneEndpoint, "api.example:6443");
  assert.equal(of("api.example", 2).kubernetesResources?.deployment?.unavailableReplicas, 1);
  assert.equal(of("api.example", 4).kubernetesResources?.deployment?.unavailableReplicas, 0);
});

test("B21 a tenant without an address says so, and keeps the version that it had", () => {
  const fresh = placelessStatus(tenantWith(), "an address of the load balancer", NOW);
  assert.equal(fresh.waitingFor, "an address of the load balancer");
  assert.deepEqual(fresh.kubernetesResources?.version, { version: "", status: "Provisioning" });
  const [ready] = fresh.conditions!;
  assert.deepEqual([ready?.status, ready?.reason], ["False", "NoAddress"]);
  const before = placelessStatus(installed(VERSION), "an address", NOW);
  assert.deepEqual(before.kubernetesResources?.version, { version: VERSION, status: "NotReady" });
});
