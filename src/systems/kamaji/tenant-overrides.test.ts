import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { completeSpec } from "../../kinds/kamaji/defaults.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import { OVERRIDES } from "./names.ts";
import { nextOverrides, openOverrides, refuseOtherAuthority } from "./tenant-overrides.ts";
import { bidding, DataStore, dataStore, FakeStores, Turn } from "./testing.ts";

type Any = Resource<KubeObject>;
const REF = { namespace: "default", name: "a" };
const events = { resource: "/events", dataStore: "b" };
const authority = (certificatePem: string) => ({ certificatePem, keyPem: "" });

function rig({ wanted = [events] as object[], record = "", installed = false } = {}) {
  const tenant = bidding(tenantWith({ dataStoreOverrides: wanted }), "default", "b", "c");
  if (record !== "") tenant.metadata.annotations![OVERRIDES] = record;
  if (installed) tenant.status = { kubernetesResources: { version: { version: "v1.34.2", status: "Ready" } } } as never;
  const turn = new Turn([TenantControlPlane as Any, tenant]);
  for (const name of ["default", "b", "c"]) turn.put(DataStore as Any, dataStore(name));
  const fake = new FakeStores(turn.clock);
  for (const name of ["default", "b", "c"]) fake.authorities.set(name, authority("PEM\n"));
  const spec = completeSpec(tenant);
  const next = () => nextOverrides(fake.stores, turn.context, { tenant: turn.get(TenantControlPlane, REF), spec });
  const annotation = () => turn.get(TenantControlPlane, REF).metadata.annotations?.[OVERRIDES];
  return { turn, fake, tenant, spec, next, annotation };
}

test("B18 overrides are written on the tenant before they are used", async () => {
  const { next, annotation } = rig();
  assert.deepEqual(await next(), { use: [], announced: true });
  assert.equal(annotation(), "/events=b");
  assert.deepEqual(await next(), { use: [events] });
  const dropped = rig({ wanted: [], record: "/events=b" });
  assert.deepEqual(await dropped.next(), { use: [events], announced: true });
  assert.equal(dropped.annotation(), "=b", "its place there is still to be found");
  assert.deepEqual(await rig({ wanted: [] }).next(), { use: [] });
});

test("what would strand a tenant's objects is refused, and what was used before is used", async () => {
  const { next, turn } = rig({ wanted: [{ resource: "/pods", dataStore: "b" }], record: "/events=c", installed: true });
  const { use, obstacle } = await next();
  assert.deepEqual(use, [{ ...events, dataStore: "c" }]);
  assert.deepEqual([obstacle!.code, obstacle!.on, turn.asked], ["Invalid", "spec.dataStoreOverrides", []]);
  assert.match(obstacle!.message, /objects of \/pods are in the tenant's own DataStore and would stay there/);
  assert.match(obstacle!.remedy!, /set it back/);
});

test("a DataStore that can't be used ends the turn of a new tenant, and holds back an installed one only in this", async () => {
  for (const gone of ["b", "default"]) {
    const fresh = rig();
    fresh.turn.objects.delete(`DataStore//${gone}`);
    await assert.rejects(fresh.next(), { code: "MissingInput" });
    const installed = rig({ installed: true });
    installed.turn.objects.delete(`DataStore//${gone}`);
    const { use, obstacle, announced } = await installed.next();
    assert.deepEqual([use, obstacle!.code, announced], [[], "MissingInput", undefined]);
    installed.turn.abort.abort();
    await assert.rejects(installed.next(), { code: "MissingInput" });
  }
  const stale = rig();
  stale.tenant.metadata.resourceVersion = "1";
  stale.turn.put(TenantControlPlane as Any, {
    ...stale.tenant,
    metadata: { ...stale.tenant.metadata, resourceVersion: "2" },
  });
  await assert.rejects(nextOverrides(stale.fake.stores, stale.turn.context, stale), {
    code: "Conflict",
  });
});

test("a tenant's other DataStores have the authority of its own, blank lines aside", async () => {
  const { turn, fake, tenant, spec } = rig();
  const open = (of: ReturnType<typeof authority> | undefined) =>
    openOverrides(fake.stores, turn.context, { tenant, spec }, { overrides: [events], authority: of });
  const [found] = await open(authority("PEM"));
  assert.deepEqual([found!.resource, found!.store.metadata.name, found!.open.endpoints], ["/events", "b", ["b:1"]]);
  for (const other of [authority("ANOTHER"), undefined])
    await assert.rejects(open(other), (error: Fault) => {
      assert.deepEqual([error.code, error.on], ["Invalid", "DataStore/b"]);
      assert.match(error.remedy!, /or keep \/events with the rest$/);
      return true;
    });
  fake.authorities.clear();
  await open(undefined);
});

test("a tenant whose overrides stay where they are moves only to where they have the same authority", async () => {
  const { turn, fake, tenant } = rig({ record: "/events=b,/pods=c" });
  const refuse = (of: ReturnType<typeof authority> | undefined) =>
    refuseOtherAuthority(fake.stores, turn.context, tenant, of);
  await refuse(authority("PEM"));
  fake.authorities.set("c", authority("ANOTHER"));
  await assert.rejects(refuse(authority("PEM")), {
    code: "Invalid",
    message: "DataStore/c: it holds /pods, and has another authority",
    remedy: "move to a DataStore of the same tlsConfig.certificateAuthority",
  });
  turn.objects.delete("DataStore//c");
  await assert.rejects(refuse(authority("PEM")), { code: "Invalid" });
});
