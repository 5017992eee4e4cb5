/** A tenant on real programs of several releases: what only they can show. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock as clock, deadline } from "@slipway/base";
import { ConfigMap, Event } from "@slipway/kube/core";
import type { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { findAssets, findRelease, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { stateOf, tenantsWorld } from "../system/tenants-world.ts";

const assets = await findAssets(process.env, ["etcd", ...TENANT_BINARIES]).catch((error: Error) => error);
const skip = assets instanceof Error ? `${assets.message}; run \`make kube-assets\`` : false;
const [v34, v35] = await Promise.all(["1.34", "1.35"].map((minor) => findRelease(process.env, TENANT_BINARIES, minor)));
/** The releases that are here; a run of CI has one of the earlier two. A tenant goes up by one minor at a time, so without 1.35 there is no way. */
const way = [v34, v35, "1.36.3"].filter((version) => version !== undefined).map((version) => `v${version}`);
const noWay = skip || (v35 === undefined ? 'no programs of 1.35: make kube-assets VERSIONS="1.34 1.35"' : false);

const at = (version: string) => ({ kubernetes: { version, kubelet: { cgroupfs: "systemd" } } });
const isAt = (version: string) => (one: TenantControlPlane) =>
  stateOf(one) === "Ready" && one.status?.kubernetesResources?.version?.version === version;
const settings = { metadata: { namespace: "default", name: "kept" } };

test(`B16 a tenant goes up ${way.join(", ")} on real programs, release by release, and keeps its objects`, {
  skip: noWay,
}, async (t) => {
  const { client, apply, until, inTenant } = await tenantsWorld(t, String(assets));
  const [first, last] = [way[0]!, way.at(-1)!];
  await apply("a", at(first));
  await until("a", isAt(first));
  await inTenant("a", async (inside) => await inside.create(ConfigMap, settings));
  await apply("a", at(last));
  await until("a", isAt(last));
  // It is ready at a release between for a moment alone, which a look can miss; its events stay.
  const steps = async (): Promise<string[]> =>
    (await client.list(Event, { namespace: "tenants" })).items
      .filter(({ reason }) => reason === "Upgraded")
      .map(({ message }) => message ?? "")
      .toSorted();
  const { signal, done } = deadline(clock, 30_000);
  const expected = way.slice(1).map((to, before) => `from ${way[before]} to ${to}`);
  while (!signal.aborted && (await steps()).length < expected.length) await clock.sleep(50);
  done();
  assert.deepEqual(await steps(), expected);
  await inTenant("a", async (inside) => assert.ok(await inside.find(ConfigMap, settings.metadata)));
});

test("B16 an upgrade waits while clients use an API that is gone then, names it, and goes on when it is accepted", {
  skip,
}, async (t) => {
  const { apply, until, inTenant } = await tenantsWorld(t, String(assets));
  const extraArgs = { apiServer: ["--runtime-config=networking.k8s.io/v1beta1=true"] };
  const on = (version: string) => ({
    ...at(version),
    controlPlane: { deployment: { replicas: 1, extraArgs }, service: { serviceType: "LoadBalancer" } },
  });
  await apply("a", on("v1.36.3"));
  await until("a", isAt("v1.36.3"));
  const beta = { group: "networking.k8s.io", version: "v1beta1", kind: "ServiceCIDR", plural: "servicecidrs" };
  await inTenant("a", async (inside) => await inside.list({ ...beta, namespaced: false }));
  await apply("a", on("v1.37.0"));
  const held = await until("a", (one) => /has used|have used/.test(one.status?.waitingFor ?? ""));
  assert.match(held.status!.waitingFor!, /networking.k8s.io\/v1beta1 servicecidrs \(gone in 1\.37\)/);
  assert.equal(held.status!.kubernetesResources!.version!.version, "v1.36.3");
  assert.ok(held.status!.conditions!.some(({ type, status }) => type === "Ready" && status === "True"));
  // 1.37 is not here: that it is asked for says that the way was free.
  await apply("a", on("v1.37.0"), { "slipway.dev/without-removed-apis": "v1.37.0" });
  await until(
    "a",
    (one) => /1\.37\.0/.test(one.status?.waitingFor ?? "") && !/have used/.test(one.status?.waitingFor ?? ""),
  );
  await apply("a", on("v1.36.3"));
  await until("a", (one) => isAt("v1.36.3")(one) && one.status?.waitingFor === undefined);
});

test("writePermissions hold on a real API server, for its users and not for its operator", { skip }, async (t) => {
  const { apply, until, inTenant } = await tenantsWorld(t, String(assets));
  await apply("a", { writePermissions: { blockDeletion: true } });
  await until("a", (one) => stateOf(one) === "WriteLimited");
  await inTenant("a", async (inside) => {
    // A policy holds some moments after it was written.
    const { signal, done } = deadline(clock, 30_000);
    for (let refusal = ""; !/has blocked writes for now \(delete\)/.test(refusal); await clock.sleep(100)) {
      assert.ok(!signal.aborted, `it was never refused: ${refusal}`);
      if ((await inside.find(ConfigMap, settings.metadata)) === undefined) await inside.create(ConfigMap, settings);
      refusal = await inside.delete(ConfigMap, settings.metadata).then(
        () => "",
        (error: Error) => error.message,
      );
    }
    done();
  });
  await inTenant("a", async (inside) => await inside.delete(ConfigMap, settings.metadata), "super-admin.conf");
});
