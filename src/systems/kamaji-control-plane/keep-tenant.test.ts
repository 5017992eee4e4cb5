import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { controllerReference } from "@slipway/kube";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { keepTenant, manifestOf } from "./keep-tenant.ts";
import type { TenantHome, TenantManifest } from "./tenant-home.ts";
import { aControlPlane, aTenant } from "./testing.ts";

const PLANE = aControlPlane();
const OWNERS = [controllerReference(KamajiControlPlane, PLANE)];

/** A home with this tenant in it; `refuses` throws for what its API does not take. */
function home(held: TenantControlPlane | undefined, refuses: (body: TenantManifest) => void = () => {}) {
  const applied: TenantManifest[] = [];
  const it: TenantHome = {
    ref: { name: "plane", namespace: "shop" },
    ownerReferences: OWNERS,
    find: async () => held,
    secret: async () => undefined,
    remove: async () => {},
    async apply(body) {
      refuses(body);
      applied.push(body);
      return body as unknown as TenantControlPlane;
    },
  };
  return { applied, home: it };
}
const versionsOf = (bodies: readonly TenantManifest[]) =>
  bodies.map(({ spec }) => (spec as { kubernetes: { version: string } }).kubernetes.version);
/** The tenant as it reads after this control plane was applied, running a version. */
function appliedAs(plane: KamajiControlPlane, running = "v1.34.2", version?: string): TenantControlPlane {
  const body = manifestOf(home(undefined).home, plane, undefined, version);
  const kubernetesResources = { version: { version: running, status: "Ready" } };
  return {
    ...body,
    metadata: { ...body.metadata, uid: "uid-t" },
    status: { kubernetesResources },
  } as unknown as TenantControlPlane;
}

test("a tenant that is as it was applied costs no request; a change of either side is applied", async () => {
  const held = appliedAs(PLANE);
  const same = home(held);
  assert.equal(await keepTenant(same.home, PLANE, undefined), held);
  assert.deepEqual(same.applied, []);
  const wanted = home(held);
  await keepTenant(wanted.home, aControlPlane({ replicas: 3 }), undefined);
  assert.equal(wanted.applied.length, 1);
  const tampered = structuredClone(held);
  (
    tampered.spec as unknown as { controlPlane: { deployment: { replicas: number } } }
  ).controlPlane.deployment.replicas = 5;
  const drifted = home(tampered);
  await keepTenant(drifted.home, PLANE, undefined);
  assert.equal(drifted.applied.length, 1);
  const orphan = { ...held, metadata: { ...held.metadata, ownerReferences: [] } };
  const orphaned = home(orphan);
  await keepTenant(orphaned.home, PLANE, undefined);
  assert.equal(orphaned.applied.length, 1);
});

test("what others set on the tenant stays and is no reason to apply; a tenant that is being deleted is left alone", async () => {
  const held = appliedAs(PLANE);
  (held.spec as unknown as Record<string, unknown>).added = "by a webhook";
  held.metadata.labels = { ...held.metadata.labels, added: "too" };
  const same = home(held);
  await keepTenant(same.home, PLANE, undefined);
  assert.deepEqual(same.applied, []);
  const leaving = home(aTenant({}, { deletionTimestamp: "2026-01-01T00:00:00Z" }));
  await keepTenant(leaving.home, PLANE, undefined);
  assert.deepEqual(leaving.applied, []);
});

test("a tenant is made with the control plane as its controller, and a mark of what was wanted", async () => {
  const { applied, home: at } = home(undefined);
  await keepTenant(at, PLANE, { apiServerPort: 8443 });
  const [{ metadata, kind, apiVersion } = assert.fail()] = applied;
  assert.deepEqual(
    [kind, apiVersion, metadata.name, metadata.namespace],
    ["TenantControlPlane", "kamaji.clastix.io/v1alpha1", "plane", "shop"],
  );
  assert.deepEqual(metadata.ownerReferences, OWNERS);
  assert.match(metadata.annotations!["slipway.dev/applied"]!, /^[0-9a-f]{64}$/);
  assert.notEqual(
    metadata.annotations!["slipway.dev/applied"],
    manifestOf(at, PLANE, undefined).metadata.annotations!["slipway.dev/applied"],
  );
});

test("a tenant of another controller is refused by its owner; one that nothing controls is taken", async () => {
  const owner = { apiVersion: "v1", kind: "Other", name: "o", uid: "uid-o", controller: true };
  const foreign = home(aTenant({}, { ownerReferences: [owner] }));
  await assert.rejects(
    keepTenant(foreign.home, PLANE, undefined),
    (error) =>
      isFault(error, "Refused") &&
      error.advice === "TenantControlPlane/plane: it belongs to Other/o; give the control plane another name",
  );
  assert.deepEqual(foreign.applied, []);
  for (const ownerReferences of [undefined, [{ ...owner, controller: false }]]) {
    const free = home(aTenant({}, { ownerReferences }));
    await keepTenant(free.home, PLANE, undefined);
    assert.equal(free.applied.length, 1);
  }
});

/** A webhook as Kamaji's, which takes one minor at a time. */
const oneMinor =
  (running: number, code: "Invalid" | "Forbidden" | "BadRequest" | "Unavailable" = "Invalid") =>
  (body: TenantManifest) => {
    const [version = ""] = versionsOf([body]);
    if (Number(version.split(".")[1]) > running + 1)
      throw new Fault(code, "TenantControlPlane/plane", `${version} is too far`);
  };

test("B16 where Kamaji refuses a version that is several minors away, the next minor is applied on the way", async () => {
  const held = appliedAs(aControlPlane({ version: "1.31.4" }), "v1.31.4");
  for (const code of ["Invalid", "Forbidden", "BadRequest"] as const) {
    const { applied, home: at } = home(held, oneMinor(31, code));
    await keepTenant(at, PLANE, undefined);
    assert.deepEqual(versionsOf(applied), ["v1.32.0"]);
  }
  const near = home(appliedAs(aControlPlane({ version: "1.32.4" }), "v1.32.4"), oneMinor(32));
  await keepTenant(near.home, PLANE, undefined);
  assert.deepEqual(versionsOf(near.applied), ["v1.33.0"]);
  const onTheWay = appliedAs(PLANE, "v1.31.4", "v1.32.0");
  const waiting = home(onTheWay, oneMinor(31));
  assert.equal(await keepTenant(waiting.home, PLANE, undefined), onTheWay);
  assert.deepEqual(waiting.applied, []);
});

test("B16 a refusal that is no matter of minors is the refusal", async () => {
  const refused = (held: TenantControlPlane | undefined, plane = PLANE, code: "Invalid" | "Unavailable" = "Invalid") =>
    keepTenant(home(held, oneMinor(1, code)).home, plane, undefined);
  const invalid = (error: unknown) => isFault(error, "Invalid", "Unavailable");
  await assert.rejects(refused(undefined), invalid);
  await assert.rejects(refused(appliedAs(aControlPlane({ version: "1.33.0" }), "v1.33.0")), invalid);
  await assert.rejects(refused(appliedAs(aControlPlane({ version: "1.31.4" }), "")), invalid);
  await assert.rejects(
    refused(appliedAs(aControlPlane({ version: "1.31.4" }), "v1.31.4"), PLANE, "Unavailable"),
    (error) => isFault(error, "Unavailable"),
  );
});
