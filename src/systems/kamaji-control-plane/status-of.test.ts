import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { conditionsOf, DONE_STEP } from "./conditions-of.ts";
import { heldStatus, type Seen, statusOf } from "./status-of.ts";
import { aControlPlane, aTenant } from "./testing.ts";

const NOW = Date.UTC(2026, 0, 1);
const DONE: Seen["steps"] = {
  TenantControlPlaneCreated: DONE_STEP,
  TenantControlPlaneAddressReady: DONE_STEP,
  ControlPlaneEndpointPatched: DONE_STEP,
  InfrastructureClusterPatched: DONE_STEP,
  KubeadmResourcesCreated: DONE_STEP,
};
const fault = (code: "Invalid" | "Unavailable") => ({ is: "failed" as const, fault: new Fault(code, "it", "broken") });
const of = (seen: Partial<Seen> = {}, plane = aControlPlane()) =>
  statusOf(plane, { steps: DONE, tenant: aTenant(), ...seen }, NOW);
const tenantIn = (status: string, more: object = {}, readyReplicas = 2) =>
  aTenant({ kubernetesResources: { version: { status }, deployment: { readyReplicas } }, ...more });
const shown = ({ conditions }: ReturnType<typeof statusOf>) =>
  Object.fromEntries((conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]));

test("B2 a control plane whose tenant answers and whose steps are done is ready by both contracts", () => {
  const status = of();
  assert.deepEqual(
    [status.ready, status.initialized, status.initialization, status.externalManagedControlPlane, status.waitingFor],
    [true, true, { controlPlaneInitialized: true }, true, undefined],
  );
  assert.deepEqual([status.version, status.versions], ["v1.34.2", [{ version: "v1.34.2", replicas: 2 }]]);
  assert.deepEqual(
    [status.failureReason, status.failureMessage, status.observedGeneration, status.selector],
    [...[undefined, undefined, 4, "app=plane"]],
  );
  assert.deepEqual(shown(status), {
    ...Object.fromEntries(Object.keys(DONE).map((type) => [type, "True Succeeded"])),
    ...{ KamajiControlPlaneIsInitialized: "True Succeeded", KamajiControlPlaneIsReady: "True Succeeded" },
    ...{ Available: "True Available", Ready: "True Ready" },
  });
});

test("replicas are the tenant's; what it does not report is counted from what is wanted", () => {
  const counts = (tenant: Seen["tenant"]) => {
    const { replicas, readyReplicas, availableReplicas, upToDateReplicas, updatedReplicas, unavailableReplicas } = of({
      tenant,
    });
    return [replicas, readyReplicas, availableReplicas, upToDateReplicas, updatedReplicas, unavailableReplicas];
  };
  assert.deepEqual(counts(undefined), [0, 0, 0, 0, 0, 2]);
  const deployment = { replicas: 3, readyReplicas: 2, availableReplicas: 1, updatedReplicas: 4 };
  assert.deepEqual(counts(aTenant({ kubernetesResources: { deployment } })), [3, 2, 1, 4, 4, 1]);
  assert.deepEqual(
    counts(aTenant({ kubernetesResources: { deployment: { ...deployment, availableReplicas: 5 } } })).at(-1),
    0,
  );
  assert.equal(
    counts(aTenant({ kubernetesResources: { deployment: { ...deployment, unavailableReplicas: 7 } } })).at(-1),
    7,
  );
  const silent = of({ tenant: undefined });
  assert.ok(!("version" in silent) && !("versions" in silent) && !("selector" in silent));
});

test("B10 a control plane that sleeps is neither ready nor Available, and says so", () => {
  const status = of({}, aControlPlane({ replicas: 0 }));
  assert.deepEqual([status.ready, shown(status).Available], [false, "False NotAvailable"]);
  assert.equal(status.waitingFor, "TenantControlPlane plane sleeps: spec.replicas is 0");
});

test("the tenant's API answers while it is upgraded and the like, if a replica is ready", () => {
  for (const state of ["Ready", "Upgrading", "WriteLimited", "CertificateAuthorityRotating"]) {
    assert.equal(of({ tenant: tenantIn(state) }).ready, true, state);
    assert.equal(of({ tenant: tenantIn(state, {}, 0) }).ready, false, state);
  }
  const status = of({ tenant: tenantIn("Provisioning", { waitingFor: "its datastore" }) });
  assert.deepEqual(
    [status.ready, status.waitingFor],
    [false, "TenantControlPlane plane is Provisioning: its datastore"],
  );
  assert.equal(of({ tenant: tenantIn("NotReady") }).waitingFor, "TenantControlPlane plane is NotReady");
  assert.match(of({ tenant: aTenant({ kubernetesResources: {} }) }).waitingFor!, /is not looked at yet$/);
});

test("B9 the infrastructure's endpoint holds Ready up, but not the use of the control plane", () => {
  const status = of({ steps: { ...DONE, InfrastructureClusterPatched: { is: "waits", for: "the definition" } } });
  assert.deepEqual([status.ready, shown(status).Ready, status.waitingFor], [true, "False Waiting", "the definition"]);
  for (const step of ["TenantControlPlaneAddressReady", "KubeadmResourcesCreated"] as const)
    assert.equal(of({ steps: { ...DONE, [step]: { is: "waits", for: "x" } } }).ready, false, step);
});

test("a refused change leaves a control plane that runs in use, and the fault is a failure only if time does not mend it", () => {
  const refused = of({ steps: { ...DONE, TenantControlPlaneCreated: fault("Invalid") } });
  assert.deepEqual([refused.ready, refused.failureReason, shown(refused).Ready], [true, "Invalid", "False Failed"]);
  assert.equal(refused.failureMessage, "it: broken");
  const passing = of({ steps: { ...DONE, TenantControlPlaneCreated: fault("Unavailable") } });
  assert.deepEqual(
    [passing.failureReason, passing.failureMessage, passing.waitingFor],
    [undefined, undefined, "it: broken"],
  );
  assert.equal(shown(passing).TenantControlPlaneCreated, "False Failed");
});

test("the first step that is not done is what is waited for", () => {
  const status = of({
    steps: {
      ...DONE,
      KubeadmResourcesCreated: { is: "waits", for: "second" },
      TenantControlPlaneAddressReady: { is: "waits", for: "first" },
    },
  });
  assert.equal(status.waitingFor, "first");
});

test("what was initialized once stays so", () => {
  const plane = aControlPlane({}, { status: { initialization: { controlPlaneInitialized: true } } });
  const status = of({ tenant: undefined, steps: {} }, plane);
  assert.deepEqual(
    [status.ready, status.initialized, shown(status).KamajiControlPlaneIsInitialized],
    [false, true, "True Succeeded"],
  );
  assert.equal(of({ tenant: undefined, steps: {} }).initialized, false);
});

test("steps that were not come to wait for the ones before; optional ones are not shown", () => {
  const judged = { steps: {}, initialized: false, isUsable: false, what: undefined, hasFailed: false };
  const list = conditionsOf(undefined, judged, { observedGeneration: 4, now: NOW });
  assert.deepEqual(
    list.map(({ type, status, message }) => [type, status, message]),
    ["TenantControlPlaneCreated", "TenantControlPlaneAddressReady", "ControlPlaneEndpointPatched"]
      .concat([
        "KamajiControlPlaneIsInitialized",
        "KubeadmResourcesCreated",
        "KamajiControlPlaneIsReady",
        "Available",
        "Ready",
      ])
      .map((type) => [type, "False", "the steps before"]),
  );
  assert.ok(list.every(({ observedGeneration }) => observedGeneration === 4));
});

test("A3 conditions that are no longer reported go, and unchanged ones keep their time", () => {
  const held = of().conditions!;
  const paused = heldStatus(
    aControlPlane({}, { status: { conditions: held } }),
    { what: "Cluster spec.paused", paused: true },
    NOW,
  );
  assert.equal(shown(paused).Paused, "True Paused");
  assert.deepEqual([paused.waitingFor, "ready" in paused], ["Cluster spec.paused", false]);
  const after = statusOf(aControlPlane({}, { status: paused }), { steps: DONE, tenant: aTenant() }, NOW + 60_000);
  assert.equal(shown(after).Paused, undefined);
  assert.deepEqual(new Set(after.conditions?.map((one) => one.lastTransitionTime)), new Set(["2026-01-01T00:00:00Z"]));
});

test("B12 a control plane without a Cluster is not ready and says what is missing", () => {
  const status = heldStatus(aControlPlane(), { what: "a Cluster that names it", paused: false }, NOW);
  assert.deepEqual(
    [shown(status), status.ready, status.externalManagedControlPlane, status.waitingFor, status.waitingSince],
    [{ Ready: "False Waiting" }, false, true, "a Cluster that names it", "2026-01-01T00:00:00.000Z"],
  );
});
